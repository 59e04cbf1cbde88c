/** The parts of a browser that the page uses. */

export interface Node {
  textContent: string | null
  className: string
  hidden: boolean
  disabled: boolean
  value: string
  open: boolean
  readonly dataset: { [name: string]: string }
  readonly scrollHeight: number
  append(...children: ReadonlyArray<Node | string>): void
  replaceChildren(...children: ReadonlyArray<Node | string>): void
  replaceWith(node: Node): void
  setAttribute(name: string, value: string): void
  addEventListener(type: string, listener: (event: Event) => void): void
  querySelectorAll(selector: string): ReadonlyArray<Node>
  focus(): void
}

interface Event {
  readonly key: string
  readonly shiftKey: boolean
  readonly isComposing: boolean
  preventDefault(): void
}

export interface Browser {
  readonly document: {
    createElement(tag: string): Node
    getElementById(id: string): Node
  }
  readonly location: { hash: string; readonly pathname: string }
  readonly history: { replaceState(data: null, unused: string, url: string): void }
  readonly localStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void }
  readonly scrollY: number
  readonly innerHeight: number
  scrollTo(x: number, y: number): void
}
