/** The laws of artifact stores. */
import type { Artifact } from "@belay/core/Artifact"
import type { ArtifactStore } from "@belay/core/ArtifactStore"
import * as Effect from "effect/Effect"
import { texts } from "./fixtures.ts"
import { broken, holds, type Law, same } from "./law.ts"

interface Subject {
  readonly artifacts: ArtifactStore
  readonly reopen?: () => Promise<ArtifactStore> | ArtifactStore
  readonly dispose?: () => Promise<void> | void
}

const run = Effect.runPromise
const by = { by: "hook-1" }

/** One law: its name, and what it checks. */
type ArtifactLaw = readonly [name: string, prove: (artifacts: ArtifactStore, subject: Subject) => Promise<void>]

const keysOf = async (artifacts: ArtifactStore, id = "s") => (await run(artifacts.list(id))).map(({ key }) => key)

const laws: ReadonlyArray<ArtifactLaw> = [
  ["a text that was never written cannot be read, listed or removed", async (artifacts) => {
    same(await run(artifacts.read("s", "k")), undefined, "read")
    same(await run(artifacts.list("s")), [], "list")
    same(await run(artifacts.remove("s", "k")), false, "remove")
    same(await run(artifacts.clear("s")), undefined, "clear")
  }],
  ["a text can be read, and a second write replaces it", async (artifacts) => {
    await run(artifacts.write("s", "k", "first, and longer", by))
    await run(artifacts.write("s", "k", "second", by))
    same(await run(artifacts.read("s", "k")), "second", "read")
    same(await keysOf(artifacts), ["k"], "list")
  }],
  ["the list has author, length and time of a text", async (artifacts) => {
    const first = await run(artifacts.write("s", "k", "12345", { by: "one", mimeType: "text/csv", toolCallId: "c1" }))
    const { createdAt, updatedAt, ...rest } = first
    same(
      rest,
      { key: "k", ref: "<artifact:k>", mimeType: "text/csv", size: 5, by: "one", toolCallId: "c1" },
      "what is known"
    )
    holds(createdAt === updatedAt, "a new text was created when it was changed last")
    const second = await run(artifacts.append("s", "k", "678", { by: "two" }))
    const { updatedAt: later, ...kept } = second
    same(kept, { ...rest, size: 8, by: "two", createdAt }, "what is known after it grew")
    holds(later >= updatedAt, "time does not run back")
    same(await run(artifacts.list("s")), [second], "list")
    const plain = await run(artifacts.write("s", "p", "1", { by: "one" }))
    const facts = ["by", "createdAt", "key", "mimeType", "ref", "size", "updatedAt"]
    same(Object.keys(plain).sort(), facts, "what is known of a text without a call")
  }],
  ["appending starts with an empty text and keeps earlier text", async (artifacts) => {
    for (const text of ["a", "", "b"]) await run(artifacts.append("s", "k", text, by))
    same(await run(artifacts.read("s", "k")), "ab", "read")
    await run(artifacts.write("s", "k", "", by))
    same(await run(artifacts.read("s", "k")), "", "an empty text")
    await run(artifacts.append("s", "k", "c", by))
    same(await run(artifacts.read("s", "k")), "c", "after it was emptied")
  }],
  ["parallel appends are all stored completely", async (artifacts, { reopen }) => {
    const other = await reopen?.() ?? artifacts
    const parts = Array.from({ length: 100 }, (_, index) => `<${String(index).repeat(20)}>`)
    await Promise.all(
      parts.map((part, index) => run((index % 2 === 0 ? artifacts : other).append("s", "k", part, by)))
    )
    const text = await run(artifacts.read("s", "k")) ?? ""
    same(text.length, parts.join("").length, "length")
    for (const part of parts) holds(text.includes(part), `${part} is in it`)
    same((await run(artifacts.list("s")))[0]?.size, text.length, "size")
  }],
  ["every text is returned unchanged", async (artifacts) => {
    for (const [index, text] of texts.entries()) {
      await run(artifacts.write("s", `k${index}`, text, by))
      const found = await run(artifacts.read("s", `k${index}`))
      holds(found === text, `text ${index} came back changed`)
    }
    await run(artifacts.append("s", "split", "\ud83d", by))
    await run(artifacts.append("s", "split", "\ude00", by))
    holds(await run(artifacts.read("s", "split")) === "😀", "a pair that was cut in two is whole again")
  }],
  ["a text can be long", async (artifacts) => {
    const text = "0123456789abcdef".repeat(2 ** 17)
    await run(artifacts.write("s", "k", text, by))
    holds(await run(artifacts.read("s", "k")) === text, "2 MiB came back changed")
  }],
  ["keys are only keys", async (artifacts) => {
    const hostile = [
      "__proto__",
      "constructor",
      "toString",
      "../../x",
      "a/b",
      "a\\b",
      "'; DROP TABLE artifacts; --",
      "%",
      "_",
      "*",
      "K",
      "k",
      "\u0000",
      "\ud83d",
      "\ude00",
      "e\u0301",
      "\u00e9",
      "😀"
    ]
    for (const key of hostile) await run(artifacts.write("s", key, `of ${JSON.stringify(key)}`, by))
    for (const key of hostile) {
      holds(
        await run(artifacts.read("s", key)) === `of ${JSON.stringify(key)}`,
        `${JSON.stringify(key)} reads another text`
      )
    }
    const found = await keysOf(artifacts)
    holds(
      found.length === hostile.length && hostile.every((key) => found.includes(key)),
      "the list has each key once"
    )
    holds(found.every((key, index) => index === 0 || found[index - 1]! < key), "the list is sorted by key")
    same(await run(artifacts.remove("s", "%")), true, "remove")
    same((await keysOf(artifacts)).length, hostile.length - 1, "keys after one was removed")
    // Shows whether a prototype was changed.
    holds(({} as { readonly by?: unknown }).by === undefined, "no prototype was touched")
  }],
  ["sessions do not see artifacts of other sessions", async (artifacts) => {
    await run(artifacts.write("a", "k", "of a", by))
    await run(artifacts.write("A", "k", "of A", by))
    await run(artifacts.write("a.b", "k", "of a.b", by))
    same(await run(artifacts.read("a", "k")), "of a", "read")
    await run(artifacts.clear("a"))
    same([
      await run(artifacts.read("a", "k")),
      await run(artifacts.read("A", "k")),
      await run(artifacts.read("a.b", "k"))
    ], [
      null,
      "of A",
      "of a.b"
    ], "after one was cleared")
  }],
  ["a removed text is gone and can be written again", async (artifacts) => {
    await run(artifacts.write("s", "k", "old", { by: "one", toolCallId: "c1" }))
    same(await run(artifacts.remove("s", "k")), true, "remove")
    same(await run(artifacts.remove("s", "k")), false, "remove again")
    const { by: writer, size, toolCallId }: Artifact = await run(artifacts.append("s", "k", "new", { by: "two" }))
    same({ writer, size, toolCallId }, { writer: "two", size: 3 }, "what is known of the new one")
  }],
  ["a copy replaces what was there and is independent", async (artifacts) => {
    await run(artifacts.append("from", "k", "1", by))
    await run(artifacts.append("from", "k", "2", by))
    await run(artifacts.write("from", "l", "x", by))
    await run(artifacts.write("to", "old", "gone", by))
    await run(artifacts.copy("from", "to"))
    same(await keysOf(artifacts, "to"), ["k", "l"], "list of the copy")
    same(await run(artifacts.list("to")), await run(artifacts.list("from")), "what is known of the copies")
    await run(artifacts.append("to", "k", "3", by))
    same([await run(artifacts.read("from", "k")), await run(artifacts.read("to", "k"))], ["12", "123"], "read")
    await run(artifacts.copy("from", "from"))
    same(await run(artifacts.read("from", "k")), "12", "copied onto itself")
    await run(artifacts.clear("from"))
    same(await run(artifacts.read("to", "l")), "x", "after the first was cleared")
  }],
  ["another process sees the artifacts", async (artifacts, { reopen }) => {
    if (reopen === undefined) return
    await run(artifacts.write("s", "k", "text", by))
    const other = await reopen()
    same(await run(other.read("s", "k")), "text", "read elsewhere")
    await run(other.append("s", "k", "!", by))
    same(await run(artifacts.read("s", "k")), "text!", "read after the other wrote")
  }],
  ["an invalid id is refused or is only an id", async (artifacts) => {
    await run(artifacts.write("s", "k", "mine", by))
    for (const id of ["__proto__", "../s", "s/../s", "%", "", "s' OR '1'='1", "*"]) {
      await Effect.runPromiseExit(artifacts.write(id, "k", "theirs", by))
      await Effect.runPromiseExit(artifacts.clear(id))
      const read = await Effect.runPromiseExit(artifacts.read(id, "k"))
      if (read._tag === "Success" && read.value !== undefined) {
        broken(`${JSON.stringify(id)} still has a text after it was cleared`)
      }
    }
    same(await run(artifacts.read("s", "k")), "mine", "the text of another")
  }]
]

/** Returns the laws for artifact stores that `make` creates. */
export const artifactLaws = (make: () => Promise<Subject>): ReadonlyArray<Law> =>
  laws.map(([name, prove]) => ({
    name: `artifacts: ${name}`,
    run: async () => {
      const subject = await make()
      try {
        await prove(subject.artifacts, subject)
      } finally {
        await subject.dispose?.()
      }
    }
  }))
