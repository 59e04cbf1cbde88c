/** A model that is overloaded and its backup; every attempt is recorded, and explained at the end. */
import { AuditLog, createAgent, HookRecord, OpenAiCompatible, ProviderFallback } from "@belay/sdk"

const primary = OpenAiCompatible.fromEnv({ name: "primary" })
const backup = OpenAiCompatible.fromEnv({ name: "backup", model: process.env.BACKUP_MODEL ?? "demo-backup" })
const agent = createAgent({
  provider: [primary, backup],
  records: true,
  hooks: [
    ProviderFallback.make(),
    AuditLog.make({ sink: (entry) => console.log("audit:", entry.event) })
  ]
})
const { records, text } = await agent.run("Say hello")
console.log(HookRecord.explain(records.filter(({ point }) => point === "onLlmError")).split("\n")[0])
console.log(text)
await agent.close()
