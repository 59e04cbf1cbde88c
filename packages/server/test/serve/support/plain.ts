/** Replaces ids and times in what a server has written by their number. */
export const plain = (text: string): string => {
  const seen = new Map<string, string>()
  const id = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![\w-])(?:[a-z]+_)?[\w-]{22,48}(?:\.[\w-]{22})?(?![\w-])/g
  return text
    .replaceAll(/"(created|created_at|completed_at|timestamp|durationMs)":\d+(?:\.\d+)?/g, "\"$1\":0")
    .replaceAll(id, (found) => {
      if (!/\d/.test(found) && !/[A-Z]/.test(found)) return found
      if (!seen.has(found)) seen.set(found, `id${seen.size + 1}`)
      return seen.get(found)!
    })
}
