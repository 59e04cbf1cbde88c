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

  it("is overridden by options of the user", () => {
    assert.strictEqual(Presets.compatOf("https://api.mistral.ai/v1", "m").toolIds, "alphanumeric-9")
    assert.strictEqual(Presets.compatOf("https://api.mistral.ai/v1", "m", { toolIds: "40" }).toolIds, "40")
  })
})
