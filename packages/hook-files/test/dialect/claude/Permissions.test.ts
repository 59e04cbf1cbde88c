/** `permissions` and `env` of settings files. */
import { createAgent } from "@belay/core/createAgent"
import * as HookConfig from "@belay/hook-files/HookConfig"
import type * as HookFiles from "@belay/hook-files/HookFiles"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { calls, recording, scripted } from "../../../../../test/support/agent.ts"
import { place, settings } from "../../support/places.ts"
import { write } from "../../support/processes.ts"

const rules = (permissions: object, more: object = {}) => JSON.stringify({ ...more, permissions })

/** Runs one call, and returns how the run ended and which tools ran. */
const callWith = async (cwd: string, loaded: HookFiles.Loaded, command: string) => {
  const { ran, tools } = recording()
  const { provider } = scripted([calls(["bash", { command }]), { text: "done" }])
  await using agent = createAgent({ provider, tools, hooks: loaded.hooks, cwd })
  const { messages, status } = await agent.run("go")
  return { ran: ran.join(), status, said: JSON.stringify(messages.at(-2) ?? "") }
}

/** Commands that a coding agent runs each day. Each can be read, and none of them publishes, pushes or deletes. */
const everyday = String.raw`
ls -la src
git status --short
git log --oneline -20 | head
git diff HEAD~1 --stat
git add -A && git commit -m "fix: a bug in $(basename "$PWD")"
git commit -F - <<'EOF'⏎fix: the parser⏎⏎It read one line too many.⏎EOF
git -C "$ROOT" rev-parse HEAD
git ls-files '*.ts' | xargs git add
git stash list
export SHA="$(git rev-parse --short HEAD)"
git show $SHA:README.md
npm ci
npm test -- --watch=false
npm run lint 2>&1 | tail -n 20
npx tsc --noEmit
npm view react version
node --test test/
node -e 'console.log(process.version)'
python3 -c 'print(1 + 1)'
python -m pytest -q -k "not slow"
pip install -r requirements.txt
echo "$PATH"
echo $HOME && pwd
export NODE_ENV=test; npm test
for f in src/*.ts; do wc -l "$f"; done
for d in a b c; do (cd $d && npm test); done
while read -r line; do echo "$line"; done < list.txt
if [ -f .env ]; then echo yes; fi
find . -name '*.py' -print0 | xargs -0 wc -l
find . -type f -newer package.json
grep -rn "TODO" --include='*.ts' . | wc -l
rg -l 'createAgent' packages
sed -i 's/foo/bar/g' src/a.ts
awk -F, '{ print $2 }' data.csv
cat > notes.md <<EOF⏎# Notes of $(date)⏎EOF
mkdir -p build && cp -r public build/
chmod +x scripts/run.sh && ./scripts/run.sh --fast
diff <(sort a.txt) <(sort b.txt)
curl -s http://localhost:3000/health | jq .status
docker compose up -d db
docker compose exec db psql -U app -c 'select count(*) from users'
kubectl get pods -n $NAMESPACE
kill $(lsof -t -i:3000)
ps aux | grep [n]ode
make -j$(nproc) test
cargo test --all -- --nocapture
go test ./... -run TestParse
tar -czf backup.tgz src docs
timeout 30 npm start &
PATH="$PWD/node_modules/.bin:$PATH" vitest run
`.trim().split("\n").map((line) => line.replaceAll("⏎", "\n"))

describe("permissions of settings files", () => {
  it("let fifty everyday commands of other programs run, and ask about none", () => {
    const { cwd, load, project } = place()
    project(rules({
      deny: ["Bash(npm publish:*)", "Bash(git push*)", "Bash(rm -rf *)", "Bash(sudo:*)", "Bash(git push --force*)"]
    }))
    const [hook] = load().hooks
    const answers = everyday.map((command) => {
      // The rules read only the name, the arguments and the tool.
      const call = { name: "Bash", args: { command }, tool: { name: "Bash", inputSchema: {} } } as never
      return [command, hook!.preToolCall!(call, { cwd } as never)] as const
    })
    assert.lengthOf(answers, 50)
    assert.deepEqual(answers.filter(([, answer]) => answer !== undefined), [])
  })

  it("deny and ask, without a decision about the project", async () => {
    const { cwd, load, project } = place()
    project(rules({ deny: ["Bash(git push *)"], ask: ["Bash(npm publish)"], defaultMode: "plan" }))
    const loaded = load()
    assert.deepEqual([loaded.warnings, loaded.untrusted], [[], []])
    assert.deepEqual(loaded.hooks.map(({ name }) => name), ["claude-permissions"])
    const push = await callWith(cwd, loaded, "git push origin")
    assert.deepEqual([push.ran, push.status], ["", "completed"])
    assert.include(push.said, `denied by the rule Bash(git push *) of ${join(cwd, ".claude/settings.json")}`)
    assert.strictEqual((await callWith(cwd, loaded, "npm publish")).status, "suspended")
    assert.deepInclude(await callWith(cwd, loaded, "ls"), { ran: "ls", status: "completed" })
  })

  it("come from managed files, the user, the project and local files, and none of them allows", async () => {
    const { cwd, home, load, project, root } = place()
    write(join(root, "managed/managed-settings.json"), rules({ deny: ["Bash(a)"] }))
    write(join(home, ".claude/settings.json"), rules({ deny: ["Bash(b)"] }))
    project(rules({ deny: ["Bash(c)"], allow: ["Bash(d)"] }))
    write(join(cwd, ".claude/settings.local.json"), rules({ ask: ["Bash(d)"], allow: ["Bash(a)", "Bash(b)"] }))
    const loaded = load({ managed: join(root, "managed") })
    assert.deepEqual(loaded.hooks.map(({ name }) => name), ["claude-managed-permissions", "claude-permissions"])
    for (const command of ["a", "b", "c"]) assert.strictEqual((await callWith(cwd, loaded, command)).ran, "", command)
    assert.strictEqual((await callWith(cwd, loaded, "d")).status, "suspended")
  })

  it("count for a tool that the host gave a name of Claude Code", () => {
    const { cwd, load, project } = place()
    project(rules({ deny: ["Write(secret/**)"] }))
    const [hook] = load({ toolNames: { put: { name: "Write", fields: { where: "file_path" } } } }).hooks
    const answer = (where: string) =>
      hook!.preToolCall!(
        // The rules read only the name, the arguments and the tool.
        { name: "put", args: { where }, tool: { name: "put", inputSchema: {} } } as never,
        { cwd } as never
      )
    assert.propertyVal(answer("secret/a"), "_tag", "Reject")
    assert.isUndefined(answer("other/a"))
    project(rules({ deny: ["Write(secret/**)"], ask: ["put"] }))
    const [strict] = load({ toolNames: { put: { name: "Write", fields: { where: "file_path" } } } }).hooks
    const both = (where: string) =>
      strict!.preToolCall!(
        { name: "put", args: { where }, tool: { name: "put", inputSchema: {} } } as never,
        { cwd } as never
      )
    assert.propertyVal(both("secret/a"), "_tag", "Reject", "the stricter of the answers under both names")
    assert.propertyVal(both("other/a"), "_tag", "Ask")
  })

  it("stay when hooks are turned off, and when another system is used", () => {
    const { cwd, load, project } = place()
    project(rules({ deny: ["Bash(a)"] }, { disableAllHooks: true }))
    assert.deepEqual(load().hooks.map(({ name }) => name), ["claude-permissions"])
    project(rules({ deny: ["Bash(a)"] }, JSON.parse(settings("true"))))
    write(
      join(cwd, ".codex/hooks.json"),
      JSON.stringify({ hooks: { Stop: [1, 2].map((n) => JSON.parse(settings(`exit ${n}`)).hooks.PreToolUse[0]) } })
    )
    load().untrusted[0]!.trust()
    assert.deepEqual(load().hooks.map(({ name }) => name), ["claude-permissions", "codex"])
    assert.deepEqual(load({ sources: ["codex"] }).hooks.map(({ name }) => name), ["codex"])
  })

  it("that cannot be read are warnings, and stop the start in managed files", () => {
    const { load, project, root } = place()
    const wrong = rules({ deny: ["Bash(", 7], ask: "Bash" })
    project(wrong)
    const loaded = load()
    assert.deepEqual(loaded.hooks, [])
    assert.deepEqual(loaded.warnings.map(({ key }) => key), [
      "permissions.ask",
      "permissions.deny[0]",
      "permissions.deny[1]"
    ])
    assert.match(HookConfig.show(loaded.warnings[1]!), /Bash\(.*, so it never applies/)
    write(join(root, "managed/managed-settings.json"), wrong)
    assert.throws(() => load({ managed: join(root, "managed") }), /must be valid: .*permissions\.ask/)
  })
})

describe("calls that rules deny", () => {
  it("reach PreToolUse entries once, before PermissionDenied, and no answer lets them run", async () => {
    const { cwd, load, project, root } = place()
    const log = join(root, "log")
    const allow = JSON.stringify({
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "allow",
        updatedInput: { command: "ls" },
        additionalContext: "noted"
      }
    })
    const entry = (command: string) => [{ hooks: [{ type: "command", command }] }]
    project(JSON.stringify({
      permissions: { deny: ["Bash(rm *)"] },
      hooks: {
        PreToolUse: entry(`echo pre >> ${log}; echo '${allow}'`),
        PermissionDenied: entry(`echo denied >> ${log}`)
      }
    }))
    load().untrusted[0]!.trust()
    const { ran, tools } = recording()
    const { provider, requests } = scripted([calls(["bash", { command: "rm x" }]), calls(["bash", { command: "pwd" }])])
    await using agent = createAgent({ provider, tools, cwd, hooks: load().hooks })
    await agent.run("go")
    assert.deepEqual(ran, ["ls"])
    assert.deepEqual(readFileSync(log, "utf8").trim().split("\n"), ["pre", "denied", "pre"])
    assert.include(JSON.stringify(requests[1]!.messages), "noted")
  })
})

describe("env of a project's settings", () => {
  it.live("reaches its entries once they are trusted, and a change asks again", () =>
    Effect.gen(function*() {
      const { fire, load, project } = place()
      const guard = `[ "$MY_GUARD" = on ] && echo no >&2 && exit 2; exit 0`
      project(settings(guard, { env: { MY_GUARD: "on" } }))
      load().untrusted[0]!.trust()
      const loaded = load()
      assert.deepInclude((yield* fire(loaded)).action, { _tag: "Reject", reason: "no" })
      project(settings(guard, { env: { MY_GUARD: "off" } }))
      assert.lengthOf(load().untrusted, 1)
      assert.match((yield* fire(loaded)).action.reason ?? "", /changed since they were trusted/)
    }))

  it.live("cannot load code or move traffic, also in a project that is trusted", () =>
    Effect.gen(function*() {
      const { fire, load, project, root } = place()
      const refused = [
        ..."PATH LD_PRELOAD DYLD_INSERT_LIBRARIES NODE_OPTIONS NODE_PATH BASH_ENV PYTHONPATH PERL5OPT RUBYOPT".split(
          " "
        ),
        ..."JAVA_TOOL_OPTIONS CLASSPATH BUN_OPTIONS DENO_DIR GOFLAGS MAKEFLAGS EDITOR PAGER LESSOPEN".split(" "),
        ..."HTTP_PROXY https_proxy ALL_PROXY NO_PROXY ANTHROPIC_BASE_URL OPENAI_BASE_URL AWS_ENDPOINT_URL".split(" "),
        ..."OTEL_EXPORTER_OTLP_ENDPOINT SSL_CERT_FILE REQUESTS_CA_BUNDLE NODE_TLS_REJECT_UNAUTHORIZED".split(" ")
      ]
      const kept = ["DEBUG", "MY_URL", "NODE_ENV", "PYTHONUNBUFFERED", "PROXY_NAME", "EDITORIAL"]
      const env = Object.fromEntries([...refused, ...kept].map((name) => [name, "evil"]))
      project(settings(`env > ${join(root, "env")}`, { env }))
      load().untrusted[0]!.trust()
      const loaded = load()
      yield* fire(loaded)
      const evil = readFileSync(join(root, "env"), "utf8").split("\n").filter((line) => line.endsWith("=evil"))
      assert.sameMembers(evil, kept.map((name) => `${name}=evil`))
      assert.sameMembers(loaded.warnings.map(({ key }) => key), refused.map((name) => `env.${name}`))
    }))

  it.live("does not reach entries of the user, and cannot make programs load code", () =>
    Effect.gen(function*() {
      const { cwd, fire, home, load, project, root } = place()
      const show = (name: string) => `printf '%s|%s|%s\\n' "$OFF" "$BASH_ENV" "$MINE" > ${join(root, name)}`
      write(join(home, ".claude/settings.json"), settings(show("of-user"), { env: { MINE: "mine" } }))
      project(settings(show("of-project"), { env: { OFF: "1", BASH_ENV: "evil.sh", MINE: "theirs" } }))
      write(join(cwd, ".claude/settings.local.json"), JSON.stringify({ env: { OFF: "2" } }))
      load().untrusted[0]!.trust()
      const loaded = load()
      assert.deepEqual(loaded.warnings.map(({ key, reason }) => `${key} ${reason}`), [
        "env.BASH_ENV is not set: a project may not set variables that make programs load code or send data elsewhere"
      ])
      yield* fire(loaded)
      const read = (name: string) => existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8") : undefined
      assert.deepEqual([read("of-user"), read("of-project")], ["||mine\n", "2||mine\n"])
    }))
})

describe("a variable that several settings files set", () => {
  it.live("has the value of managed settings, of their last file, before that of the user", () =>
    Effect.gen(function*() {
      const { fire, home, load, root } = place()
      const managed = join(root, "managed")
      const command = `printf '%s|%s|%s' "$ALL" "$PARTS" "$MINE" > ${join(root, "seen")}`
      write(join(managed, "managed-settings.json"), JSON.stringify({ env: { ALL: "managed", PARTS: "first" } }))
      write(join(managed, "managed-settings.d/10.json"), JSON.stringify({ env: { PARTS: "second" } }))
      const env = { ALL: "user", PARTS: "user", MINE: "user" }
      write(join(home, ".claude/settings.json"), settings(command, { env }))
      yield* fire(load({ managed }))
      assert.strictEqual(readFileSync(join(root, "seen"), "utf8"), "managed|second|user")
    }))
})
