/** The address of this machine at which a request has arrived, where the server knows it. */
const addresses = new WeakMap<Request, string>()

/** Notes the address, as it would stand in the header `Host`. */
export const noteLocalAddress = (request: Request, address: string | undefined): void => {
  if (address === undefined) return
  const plain = address.replace(/^::ffff:(?=\d+\.)/, "")
  addresses.set(request, plain.includes(":") ? `[${plain}]` : plain)
}

/** Returns the address, or nothing if it is not known. */
export const localAddressOf = (request: Request): string | undefined => addresses.get(request)
