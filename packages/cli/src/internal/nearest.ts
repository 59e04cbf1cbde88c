/** The known word that is nearest to one that is not known, where one is near. */

export const nearest = (word: string, known: ReadonlyArray<string>): string | undefined => {
  if (word.length > 64) return undefined
  const plain = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]/g, "")
  const near = known.map((one) => ({ one, far: distance(plain(word), plain(one)) })).sort((a, b) => a.far - b.far)[0]
  return near !== undefined && near.far <= 3 && near.far < plain(near.one).length / 2 ? near.one : undefined
}

const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
