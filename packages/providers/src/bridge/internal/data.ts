/** Converts files for a request. */

/** Returns the content of a `data:` URL as base64, and nothing for other URLs. */
export const base64Of = (url: string): string | undefined => {
  const found = /^data:([^,]*),(.*)$/s.exec(url)
  if (found === null) return undefined
  const [, head = "", body = ""] = found
  return /;base64$/i.test(head) ? body : Buffer.from(percentDecode(body), "utf8").toString("base64")
}

const percentDecode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
