/**
 * What the command needs of `node:crypto`, for its bundle: that module loads the streams of Node, which takes longer
 * than the hash of a config.
 */
const load = () => process.getBuiltinModule("node:crypto")

/** Longer texts are hashed by Node. */
const maxLength = 16_384

export const hash = (algorithm: string, data: string | Buffer, encoding: "hex" = "hex"): string => {
  const bytes = typeof data === "string" ? Buffer.from(data) : data
  return algorithm === "sha256" && bytes.length <= maxLength ? sha256(bytes) : load().hash(algorithm, data, encoding)
}

export const randomUUID = (): string => load().randomUUID()

const fractions = (root: (prime: number) => number): Int32Array =>
  Int32Array.from(primes, (prime) => {
    const value = root(prime)
    return Math.floor((value - Math.floor(value)) * 2 ** 32) | 0
  })

/** The first 64 primes. */
const primes: Array<number> = []
for (let number = 2; primes.length < 64; number++) {
  if (primes.every((prime) => number % prime !== 0)) primes.push(number)
}

const [constants, start] = [fractions(Math.cbrt), fractions(Math.sqrt).subarray(0, 8)]

const sha256 = (bytes: Buffer): string => {
  const blocks = (bytes.length + 72) >> 6
  const padded = Buffer.alloc(blocks * 64)
  bytes.copy(padded)
  padded[bytes.length] = 128
  padded.writeUInt32BE(bytes.length * 8, padded.length - 4)
  const state = Int32Array.from(start)
  const words = new Int32Array(64)
  for (let at = 0; at < padded.length; at += 64) mix(state, words, padded, at)
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("")
}

const mix = (state: Int32Array, words: Int32Array, padded: Buffer, at: number): void => {
  for (let index = 0; index < 16; index++) words[index] = padded.readInt32BE(at + index * 4)
  for (let index = 16; index < 64; index++) {
    const [x, y] = [words[index - 15]!, words[index - 2]!]
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    words[index] = (((words[index - 16]! + s0) | 0) + ((words[index - 7]! + s1) | 0)) | 0
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
  for (let index = 0; index < 64; index++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    // The sums stay 32 bits long, so that none of them needs memory.
    const one = (((h + s1) | 0) + ((((e & f) ^ (~e & g)) + ((constants[index]! + words[index]!) | 0)) | 0)) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const two = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + one) | 0
    d = c
    c = b
    b = a
    a = (one + two) | 0
  }
  const sums = [a, b, c, d, e, f, g, h]
  for (let index = 0; index < 8; index++) state[index] = (state[index]! + sums[index]!) | 0
}
