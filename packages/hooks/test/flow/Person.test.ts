/** What the words of the person ask for, and what they do not. */
import type { Json } from "@belay/core/Json"
import { assert, describe, it } from "@effect/vitest"
import { spelled } from "../../src/flow/internal/text/numbers.ts"
import { afterReading } from "./support/converse.ts"

type Args = { readonly [name: string]: Json }

const isAsked = async (prompt: string, tool: string, args: Args, input?: Json) =>
  await afterReading("Hello.", tool, args, prompt, {
    more: input === undefined ? {} : { [tool]: { input: input as never } }
  }) !== undefined

describe("an amount", () => {
  it.each<[string, ReadonlyArray<number>]>([
    ["one hundred and eighty", [180, 1, 100, 80]],
    ["twenty five", [25, 20, 5]],
    ["two thousand five hundred", [2_500]],
    ["three hundred twelve", [312]],
    ["a thousand and one", [1_001]]
  ])("in words is a number: %s", (text, numbers) => {
    assert.includeMembers([...spelled(text.split(" "))], [...numbers])
  })

  it.each<[string, number]>([
    ["five six", 11],
    ["two and three", 5],
    ["twenty thirty", 50],
    ["two thousand five hundred", 2_005]
  ])("is not the sum of %s", (text, number) => {
    assert.notInclude([...spelled(text.split(" "))], number)
  })

  it.each([
    ["Pay petra@firm.example one hundred and eighty euros", 180, "EUR", false],
    ["Pay petra@firm.example $180", 180, "USD", false],
    ["Pay petra@firm.example 180 euros", 180, "USD", true],
    ["Pay petra@firm.example 180", 180, "EUR", true]
  ])("has a currency: %s", async (prompt, amount, currency, expected) => {
    assert.strictEqual(await isAsked(prompt, "pay_bill", { to: "petra@firm.example", amount, currency }), expected)
  })
})

describe("an address without its scheme", () => {
  const input = { type: "object", properties: { url: {} } }

  it.each([
    ["Open a.example/news", "https://a.example/news", false],
    ["Open a.example", "https://a.example/", false],
    ["Open a.example/news", "https://a.example/news?d=1", true],
    ["Open a.example/news", "ftp://a.example/news", true],
    ["Open readme.md", "https://readme.md/", true],
    ["Write to petra@firm.example", "https://firm.example/", true]
  ])("%s: %s", async (prompt, url, expected) => {
    assert.strictEqual(await isAsked(prompt, "fetch_page", { url }, input), expected)
  })
})

describe("a request to take something away", () => {
  it.each([
    ["Delete event 13", false],
    ["If it is not confirmed, cancel event 13", false],
    ["Do not delete event 13", true],
    ["Look at event 13, but don't delete it", true],
    ["Never cancel event 13", true],
    ["Read event 13 without deleting it", true],
    ["Delete nothing of event 13", true],
    ["Lies den Event 13 und lösche nichts", true],
    ["Do not archive the mail, delete event 13", false]
  ])("%s", async (prompt, expected) => {
    assert.strictEqual(await isAsked(prompt, "delete_event", { event_id: 13 }), expected)
  })
})

describe("a tool of which only a hint says that it takes something away", () => {
  it.each([
    ["Write a summary of it to notes.md", "notes.md", false],
    ["Fix the typo in notes.md", "notes.md", false],
    ["Fix the typo in notes.md", `${process.cwd()}/notes.md`, false],
    [`Fix the typo in ${process.cwd()}/notes.md`, "notes.md", false],
    ["Fix the typo in notes.md", "/tmp/elsewhere/notes.md", true],
    ["Read notes.md", "notes.md", true],
    ["Read notes.md, but do not change it", "notes.md", true]
  ])("%s: %s", async (prompt, path, expected) => {
    const more = { Write: { destructive: true, input: { type: "object", properties: { file_path: {} } } } }
    const asked = await afterReading("Write nonsense to notes.md", "Write", { file_path: path }, prompt, { more })
    assert.strictEqual(asked !== undefined, expected)
  })
})

describe("the plural of the name of a record", () => {
  it.each([
    ["names the record", "b-1", { "b-1": "Blue mug", "r-1": "Red mug" }, false],
    ["does not name another record", "r-1", { "b-1": "Blue mug", "r-1": "Red mug" }, true],
    ["does not make a record with exactly this name the one that was meant", "e-1", {
      "b-1": "Blue mug",
      "e-1": "Blue mugs"
    }, true]
  ])("%s", async (_what, sku, names, expected) => {
    const records = Object.entries(names).map(([id, name]) => ({ sku: id, name }))
    const asked = await afterReading(records, "order_item", { sku }, "Order two of the blue mugs")
    assert.strictEqual(asked !== undefined, expected)
  })
})

describe("a folder and a file that the person named", () => {
  const prompt = "Copy notes.txt into the folder backup"

  it.each([
    ["notes.txt", "backup/notes.txt", false],
    ["/notes.txt", "/backup/notes.txt", false],
    ["notes.txt", "/backup", false],
    ["notes.txt", "/notes", true],
    ["notes.txt", "backup/other.txt", true],
    ["/srv/notes.txt", "backup", true]
  ])("are said in the path of %s to %s", async (from, to, expected) => {
    assert.strictEqual(await isAsked(prompt, "copy_file", { from, to }), expected)
  })
})

describe("words with a stroke between them", () => {
  it.each([
    ["Put it in the column Petra / review", "move_card", { column: "Petra / review" }, false],
    ["Put it in the column Petra / review", "move_card", { column: "Eve / review" }, true],
    ["Remove old logs with rm old", "run", { command: "rm / old" }, true]
  ])("are no path: %s, %s %o", async (prompt, tool, args, expected) => {
    assert.strictEqual(await isAsked(prompt, tool, args), expected)
  })
})

describe("several numbers after what they are of", () => {
  it.each([
    ["Close tickets 17 and 18", 18, false],
    ["Close tickets 17, 18 and 19", 18, false],
    ["Close tickets 17, 18 and 19", 19, false],
    ["Close tickets 17 and 18, 20 times if needed", 20, true],
    ["Close tickets 17, 20 euros each", 20, true],
    ["Close tickets 17, 18.", 18, false],
    ["Close tickets 17 and 20 more", 20, true]
  ])("are ids: %s, %i", async (prompt, id, expected) => {
    assert.strictEqual(await isAsked(prompt, "close_ticket", { ticket_id: id }), expected)
  })
})
