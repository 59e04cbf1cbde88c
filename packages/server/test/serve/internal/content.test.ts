/** Texts and files in the messages of clients, as one part after another. */
import { assert, describe, it } from "vitest"
import {
  fieldsOf,
  fileOf,
  isInstruction,
  listField,
  partsOf,
  textField,
  textOf
} from "../../../src/serve/internal/content.ts"
import { cut, cutJson } from "../../../src/serve/internal/shorten.ts"

/** The text and the field of a refusal, or what was returned. */
const told = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return `${Object(error).field}: ${Object(error).message}`
  }
}

describe("a field", () => {
  it("is one of an object, and a list is not an object", () => {
    for (const value of [undefined, null, "a", 1, [1]]) assert.deepEqual(fieldsOf(value), {})
    assert.deepEqual(fieldsOf({ a: 1 }), { a: 1 })
  })

  it("is a text or a list, and is named otherwise", () => {
    assert.strictEqual(told(() => textField({ a: "b" }, "a")), "b")
    assert.isUndefined(told(() => textField({ a: null }, "a")))
    assert.isUndefined(told(() => textField({}, "a")))
    assert.strictEqual(told(() => textField({ a: 1 }, "a")), "a: a: expected a text")
    assert.strictEqual(told(() => textField({ a: 1 }, "a", "x.a")), "x.a: x.a: expected a text")
    assert.deepEqual(told(() => listField({ a: [] }, "a")), [])
    assert.strictEqual(told(() => listField({}, "a")), "a: a: expected a list")
    assert.strictEqual(told(() => listField({ a: {} }, "a", "x.a")), "x.a: x.a: expected a list")
  })

  it("says that a message is an instruction", () => {
    assert.deepEqual(["system", "developer", "user", undefined].map((role) => isInstruction({ role })), [
      true,
      true,
      false,
      false
    ])
  })
})

describe("a file", () => {
  const type = (url: string, mediaType?: string) => Object(told(() => fileOf(url, mediaType, undefined))).mediaType

  it.for([
    ["https://a.example/x.png", "image/png"],
    ["https://a.example/x.GIF?y=1", "image/gif"],
    ["https://a.example/x.webp#y", "image/webp"],
    ["https://a.example/x.pdf", "application/pdf"],
    ["https://a.example/x.mp3", "audio/mpeg"],
    ["https://a.example/x.wav", "audio/wav"],
    ["https://a.example/x.svg", "image/jpeg"],
    ["https://localhost/x", "image/jpeg"],
    ["data:image/svg+xml;base64,AA", "image/svg+xml"],
    ["data:text/plain,a", "text/plain"]
  ])("at %s has the type %s", ([url, expected]) => assert.strictEqual(type(url!), expected))

  it("has the type and the name that the client gives", () => {
    assert.strictEqual(type("https://a.example/x.png", "a/b"), "a/b")
    assert.deepEqual(fileOf("https://a.example/x.png", undefined, "n"), {
      type: "file",
      mediaType: "image/png",
      url: "https://a.example/x.png",
      filename: "n"
    })
    assert.notProperty(fileOf("https://a.example/x.png", undefined, undefined), "filename")
  })

  it("is not at another URL", () => {
    const wrong = "undefined: the URL of a file must begin with https: or data:"
    for (const url of ["http://a.example/x.png", "file:///etc/passwd", "data:x", "", "x https://"]) {
      assert.strictEqual(told(() => fileOf(url, undefined, undefined)), wrong, url)
    }
  })
})

describe("the content of a message", () => {
  const parts = (content: unknown) => told(() => partsOf(content, "p"))
  const text = (value: string) => [{ type: "text", text: value }]

  it("is a text, parts or nothing", () => {
    for (const nothing of [undefined, null, "", []]) assert.deepEqual(parts(nothing), [])
    assert.deepEqual(parts("a"), text("a"))
    assert.strictEqual(parts(1), "p: p: expected a text or a list of parts")
    for (const type of ["text", "input_text", "output_text"]) assert.deepEqual(parts([{ type, text: "a" }]), text("a"))
    assert.deepEqual(parts([{ type: "refusal", refusal: "no" }]), text("no"))
    assert.deepEqual(parts([{ type: "text" }]), text(""))
    assert.strictEqual(parts(["a", { type: "video" }]), "p[0]: p[0]: this kind of part is not supported")
    assert.strictEqual(parts([{ type: "text", text: 1 }]), "p[0]: p[0]: expected a text")
  })

  it("has files", () => {
    const url = "https://a.example/x.png"
    const file = [{ type: "file", mediaType: "image/png", url }]
    assert.deepEqual(parts([{ type: "image_url", image_url: { url } }]), file)
    assert.deepEqual(parts([{ type: "input_image", image_url: url }]), file)
    assert.deepEqual(parts([{ type: "file", file: { file_data: url } }]), file)
    assert.deepEqual(parts([{ type: "input_file", file_url: url, filename: "n" }]), [{ ...file[0], filename: "n" }])
    assert.deepEqual(parts([{ type: "input_audio", input_audio: { data: "AA", format: "wav" } }]), [
      { type: "file", mediaType: "audio/wav", url: "data:audio/wav;base64,AA" }
    ])
    assert.strictEqual(parts([{ type: "file" }]), "p[0]: p[0]: the file needs file_data")
    assert.match(String(parts([{ type: "image_url" }])), /must begin with https/)
    assert.match(String(parts([{ type: "input_image" }])), /must begin with https/)
    assert.strictEqual(textOf([{ type: "text", text: "a" }, file[0] as never, { type: "text", text: "b" }]), "ab")
  })
})

describe("what is too long for an event", () => {
  it("is cut, and says so", () => {
    assert.strictEqual(cut("abc", 3), "abc")
    assert.strictEqual(cut("abcd", 3), "abc… (1 characters were cut)")
  })

  it("of JSON is its text", () => {
    assert.deepEqual(cutJson({ a: 1 }, 7), { a: 1 })
    assert.strictEqual(cutJson({ a: 1 }, 6), "{\"a\":1… (1 characters were cut)")
    assert.isUndefined(cutJson(undefined, 4))
    assert.strictEqual(cutJson(undefined, 3), "nul… (1 characters were cut)")
  })
})
