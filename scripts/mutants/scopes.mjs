// The sources that bugs are planted in, by folder of the report.
const hooks = "packages/hooks/src"

/** Names of parts of the report, and the files of each: whole folders, or single files. */
const scopes = [
  ["core/hook", ["packages/core/src/hook/"]],
  ["core/guard", ["packages/core/src/guard/"]],
  ["core/agent", ["packages/core/src/agent/"]],
  ["core/store", ["packages/core/src/port/SessionStore.ts", "packages/core/src/port/ArtifactStore.ts"]],
  ["hooks/Approval", [`${hooks}/permission/Approval.ts`]],
  ["hooks/Budget", [
    `${hooks}/limit/Budget.ts`,
    `${hooks}/limit/Ledger.ts`,
    `${hooks}/limit/internal/budget`,
    `${hooks}/limit/internal/money.ts`,
    `${hooks}/limit/internal/prices.ts`,
    `${hooks}/limit/internal/waiters.ts`
  ]],
  ["hooks/HttpGuard", [`${hooks}/http/`]],
  ["hooks/Redaction", [
    `${hooks}/guardrail/Redaction.ts`,
    ...["detector.ts", "mapJson.ts", "personalData.ts", "placeholderStore.ts", "redact/", "scan/"].map((name) =>
      `${hooks}/guardrail/internal/${name}`
    )
  ]],
  ["host", ["packages/server/src/host/"]],
  ["serve", ["packages/server/src/serve/"]],
  ["hook-files/trust", ["packages/hook-files/src/trust/"]],
  ["hook-files", ["packages/hook-files/src/"]],
  ["guard", ["packages/guard/src/"]],
  ["cli", ["packages/cli/src/"]],
  ["providers/store", ["packages/providers/src/store/"]],
  ["providers/mcp", ["packages/providers/src/mcp/"]],
  ["providers", ["packages/providers/src/"]],
  ["hooks/flow", [`${hooks}/flow/`]],
  ["hooks/permission", [`${hooks}/permission/`]],
  ["hooks", [`${hooks}/`]],
  ["core", ["packages/core/src/"]],
  ["tools", ["packages/tools/src/"]],
  ["observe", ["packages/observe/src/"]]
]

/** The part of the report that a file belongs to. */
export const scopeOf = (file) => scopes.find(([, starts]) => starts.some((start) => file.startsWith(start)))?.[0]

/** Sources that run in a browser, where nothing notes what is reached, and the tests that open it. */
export const inBrowser = {
  "packages/server/src/serve/internal/page/program.ts": [
    "packages/server/test/serve/internal/page/parts.test.ts",
    "packages/server/test/serve/internal/page/program.test.ts",
    "packages/server/test/serve/Browser.test.ts"
  ],
  "packages/server/src/serve/internal/page/sessions.ts": ["packages/server/test/serve/SessionsPage.test.ts"],
  "packages/observe/src/report/internal/page.ts": ["packages/observe/test/report/Report.test.ts"]
}

/** Whether a test of another package is about a source: laws of the stores in memory, and the pages of the guides. */
export const isTestedElsewhere = (file, test) =>
  (scopeOf(file) === "core/store" && test.startsWith("packages/testing/")) ||
  (file.endsWith("/guide.ts") && /^packages\/cli\/test\/(?:explain|guides)\.test\.ts$/.test(test))
