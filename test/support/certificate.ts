/** A self-signed certificate for the server of a test. */
import { generateKeyPairSync, sign } from "node:crypto"
import { isIPv4 } from "node:net"

const der = (tag: number, ...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const body = Buffer.concat(parts)
  const length = body.length < 128
    ? [body.length]
    : body.length < 256
    ? [0x81, body.length]
    : [0x82, body.length >> 8, body.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts: ReadonlyArray<Uint8Array>) => der(0x30, ...parts)
const oid = (...bytes: ReadonlyArray<number>) => der(0x06, Buffer.from(bytes))
const number = (value: number) => der(0x02, Buffer.from([value]))
const time = (year: number) => der(0x18, Buffer.from(`${year}0101000000Z`))
const yes = der(0x01, Buffer.from([0xff]))

/** Makes one for these names and addresses; with a key of its own. */
export const selfSigned = (names: ReadonlyArray<string>): { readonly key: string; readonly cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
  const subject = sequence(
    der(0x31, sequence(oid(0x55, 0x04, 0x03), der(0x0c, Buffer.from(`test of ${names.join()}`))))
  )
  const alternatives = names.map((name) =>
    isIPv4(name) ? der(0x87, Buffer.from(name.split(".").map(Number))) : der(0x82, Buffer.from(name))
  )
  const extensions = sequence(
    sequence(oid(0x55, 0x1d, 0x11), der(0x04, sequence(...alternatives))),
    sequence(oid(0x55, 0x1d, 0x13), yes, der(0x04, sequence(yes)))
  )
  const about = sequence(
    der(0xa0, number(2)),
    number(1),
    ecdsaWithSha256,
    subject,
    sequence(time(2020), time(2120)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, extensions)
  )
  const certificate = sequence(about, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign("sha256", about, privateKey)))
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${
      certificate.toString("base64").replaceAll(/.{64}/g, "$&\n")
    }\n-----END CERTIFICATE-----\n`
  }
}
