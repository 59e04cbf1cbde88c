/**
 * A list that stays sorted. Finding a place takes a number of comparisons that grows with the logarithm of its length.
 */

/** Returns a negative number if `a` comes before `b`, and 0 only for the same item. */
export type Order<A> = (a: A, b: A) => number

/** A class, because it is the state of one list. */
export class SortedList<A> {
  private items: Array<A> = []
  private readonly order: Order<A>

  constructor(order: Order<A>) {
    this.order = order
  }

  get length(): number {
    return this.items.length
  }

  add(item: A): void {
    const last = this.items.at(-1)
    // Most items come last.
    if (last === undefined || this.order(last, item) < 0) this.items.push(item)
    else this.items.splice(this.indexOf(item), 0, item)
  }

  remove(item: A): void {
    const index = this.indexOf(item)
    const found = this.items[index]
    if (found !== undefined && this.order(found, item) === 0) this.items.splice(index, 1)
  }

  /** Removes and returns the items at the beginning for which `is` returns true. */
  takeWhile(is: (item: A) => boolean): ReadonlyArray<A> {
    const end = this.items.findIndex((item) => !is(item))
    return this.items.splice(0, end < 0 ? this.items.length : end)
  }

  /** Yields the items after `after`, in order. */
  *from(after: A | undefined): Iterable<A> {
    const { items } = this
    let index = after === undefined ? 0 : this.indexOf(after)
    const first = items[index]
    if (after !== undefined && first !== undefined && this.order(first, after) === 0) index++
    for (; index < items.length; index++) yield items[index]!
  }

  /** Returns the index of the first item that does not come before this one. */
  private indexOf(item: A): number {
    let [low, high] = [0, this.items.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.order(this.items[middle]!, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
