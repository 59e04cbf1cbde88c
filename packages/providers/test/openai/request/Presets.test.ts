import * as Presets from "@belay/providers/Presets"
import { assert, describe, it } from "@effect/vitest"

describe("a preset", () => {
  it("is found by the host of the base URL", () => {
    for (const preset of Presets.all.values()) assert.strictEqual(Presets.detect(preset.baseUrl)?.name, preset.name)
    assert.strictEqual(Presets.detect("https://api.groq.com/openai/v1/")?.name, "groq")
    assert.strictEqual(Presets.detect("http://127.0.0.1:11434/v1")?.name, "ollama")
    assert.strictEqual(Presets.detect("https://mine.openai.azure.com/openai/v1/")?.name, "azure")
    assert.isUndefined(Presets.detect("https://api.openai.com.example.com/v1"))
    assert.isUndefined(Presets.detect("nonsense"))
  })

  it("knows which parameters reasoning models of OpenAI refuse", () => {
    const compat = Presets.compatOf("https://api.openai.com/v1", "gpt-5.6")
    assert.deepInclude(compat, { sampling: false, systemRole: "developer", maxTokensField: "max_completion_tokens" })
    assert.strictEqual(Presets.compatOf("https://api.openai.com/v1", "o1-mini").systemRole, "system")
    assert.isTrue(Presets.compatOf("https://api.openai.com/v1", "gpt-4.1").sampling)
    assert.isTrue(Presets.compatOf("https://openrouter.ai/api/v1", "openai/gpt-5.6").sampling)
  })

  it("knows reasoning models by other names", () => {
    const openai = "https://api.openai.com/v1"
    const azure = "https://mine.cognitiveservices.azure.com/openai/v1"
    const isReasoning = (url: string, model: string) => !Presets.compatOf(url, model).sampling
    for (
      const model of [
        "gpt-6",
        "gpt-5-mini",
        "ft:gpt-5-mini:org::id",
        "ft:gpt-6:chat-team::id",
        "codex-mini-latest",
        "o4-mini"
      ]
    ) {
      assert.isTrue(isReasoning(openai, model), model)
    }
    for (const model of ["gpt-4o", "gpt-5-chat-latest", "ft:gpt-4o:gpt-5-team::id", "gpt-oss-120b"]) {
      assert.isFalse(isReasoning(openai, model), model)
    }
    for (const name of ["gpt-5.4", "prod-gpt-5-mini", "team_o3-mini", "My GPT5"]) {
      assert.isTrue(isReasoning(azure, name), name)
      assert.strictEqual(Presets.compatOf(azure, name).maxTokensField, "max_completion_tokens")
    }
    for (const name of ["my-deployment", "gpt-4o-prod", "gpt-5-chat", "demo3"]) {
      assert.isFalse(isReasoning(azure, name), name)
    }
    assert.isTrue(isReasoning("https://eu.api.openai.com/v1", "gpt-5.4"))
  })

  it("is one with a grammar for a server on this machine, on any port", () => {
    for (const host of ["127.0.0.1:9999", "localhost:8081", "[::1]:5000", "host.docker.internal:1"]) {
      assert.strictEqual(Presets.compatOf(`http://${host}/v1`, "m").jsonSchema, "native-without-tools")
      assert.isUndefined(Presets.detect(`http://${host}/v1`))
    }
    assert.strictEqual(Presets.compatOf("http://192.168.0.7:9999/v1", "m").jsonSchema, "native")
  })

  it("is found by other hosts of the vendor, and not by similar hosts", () => {
    const nameOf = (url: string) => Presets.detect(url)?.name
    assert.strictEqual(nameOf("https://open.bigmodel.cn/api/paas/v4"), "zai")
    assert.strictEqual(nameOf("https://us-east-1.api.x.ai/v1"), "xai")
    assert.isUndefined(nameOf("https://evilapi.openai.com/v1"))
    assert.isUndefined(nameOf("https://api.openai.com.evil.example/v1"))
  })

  it("is overridden by options of the user", () => {
    assert.strictEqual(Presets.compatOf("https://api.mistral.ai/v1", "m").toolIds, "alphanumeric-9")
    assert.strictEqual(Presets.compatOf("https://api.mistral.ai/v1", "m", { toolIds: "40" }).toolIds, "40")
  })
})
