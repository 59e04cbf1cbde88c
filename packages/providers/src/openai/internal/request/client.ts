/** The address and the headers of a call. */

/** The endpoint to call. */
export interface Target {
  readonly baseUrl: string
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** Address and headers of a call, without the key. */
export interface Ready {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Returns where calls of this path go. Parameters of the base URL stay behind the path. */
export const readyFor = ({ baseUrl, headers = {} }: Target, path: string): Ready => {
  const url = new URL(baseUrl)
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`
  return {
    url: url.href,
    headers: {
      "user-agent": "belay",
      ...lowerCase(headers),
      accept: "text/event-stream, application/json",
      "content-type": "application/json"
    }
  }
}

/**
 * Returns the headers with lower-case names, so that the same name cannot occur twice. Throws for names and values that
 * are not allowed in a header, such as line ends.
 */
export const lowerCase = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  plainHeaders(headers) ?? Object.fromEntries(new Headers(headers))

/**
 * Returns headers with ordinary names and values in lower case and sorted. Returns nothing for others, which `Headers`
 * has to check: loading it takes longer than the first call.
 */
const plainHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined => {
  const plain = new Map<string, string>()
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase()
    if (!/^[\w-]+$/.test(name) || typeof value !== "string" || !/^[!-~](?:[ -~]*[!-~])?$/.test(value)) return undefined
    if (plain.has(lower)) return undefined
    plain.set(lower, value)
  }
  return Object.fromEntries([...plain].sort(([a], [b]) => a < b ? -1 : 1))
}

/** Returns the headers with the key. A header of the user counts first. Throws like `lowerCase`. */
export const withKey = (headers: Readonly<Record<string, string>>, key: string | undefined) =>
  key === undefined || headers.authorization !== undefined
    ? headers
    : { ...headers, ...lowerCase({ authorization: `Bearer ${key}` }) }

/** Returns the reason why a text is not a base URL, or nothing if it is one. */
export const whyNotAddress = (baseUrl: string): string | undefined => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url?.protocol === "http:" || url?.protocol === "https:") return undefined
  return `the base URL ${JSON.stringify(baseUrl)} is not an address of the web; begin it with https:// or http://`
}

/** Removes the path of an API from a base URL, because people copy it with the rest. */
export const baseOf = (address: string): string =>
  address.replace(/\/(?:chat\/completions|responses|completions|embeddings)\/*(?=$|\?)/, "")
