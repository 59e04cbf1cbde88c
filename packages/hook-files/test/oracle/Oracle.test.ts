import { assert, describe, it } from "@effect/vitest"
import { folder } from "../support/processes.ts"
import { runInBelay } from "./belay.ts"
import { settings } from "./settings.ts"

describe("settings of Claude Code", () => {
  for (const setting of settings) {
    it(setting.name, async () => {
      const { outcome } = await runInBelay(setting, folder())
      assert.deepEqual(outcome, setting.expected)
    })
  }
})
