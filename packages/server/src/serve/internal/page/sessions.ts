/**
 * The program of the page of sessions. It runs in a browser: `program` is written into the page as text, so it must not
 * use anything from outside of it.
 */
import type { Browser, Node } from "./dom.ts"
import { escape } from "./shell.ts"

interface Session {
  readonly id: string
  readonly state: string
  readonly why: string
  readonly since: number
  readonly entries: ReadonlyArray<{ readonly key: string; readonly kind: string; readonly status: string }>
  readonly release?: string
}

interface Shown {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly text: string; readonly calls?: unknown }>
}

export const body = (title: string): string =>
  `<div id="page">
<header><h1>${escape(title)}</h1>
<label>State <select id="state"><option value="">all</option><option>dead</option><option>stuck</option>\
<option>waiting</option><option>busy</option></select></label>
<button id="reload" type="button">Reload</button></header>
<main>
<form id="login" hidden><input id="token" type="password" aria-label="Token" placeholder="Token of this server"\
 autocomplete="off"><button>Sign in</button></form>
<p id="status" role="status"></p>
<p id="empty" hidden>No sessions with something unfinished.</p>
<div id="sessions"></div>
</main>
</div>`

export const style = `
#page { max-width: 60rem } article { border: 1px solid var(--line); border-radius: 8px; padding: .6rem .8rem }
article h2 { font: 600 1rem ui-monospace, monospace; margin: 0 0 .3rem } select { font: inherit; min-height: 2.75rem }
.state { font-weight: 600 } .dead .state, .stuck .state { color: var(--bad) } .waiting .state { color: var(--ask) }
.busy .state { color: var(--good) } .entry { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center;
  margin: .4rem 0 } .entry span { flex: 1; min-width: 12rem; color: var(--dim) }
.confirm { border-color: var(--bad); color: var(--bad) } .history { max-height: 30rem; overflow: auto }
`

/** Starts the page. `api` is the path of the handler. */
export const program = (browser: Browser, api: string): void => {
  const { document, history, localStorage, location } = browser
  const element = (id: string): Node => document.getElementById(id)
  const make = (tag: string, className = "", ...children: ReadonlyArray<Node | string>): Node => {
    const node = document.createElement(tag)
    if (className !== "") node.className = className
    node.append(...children)
    return node
  }
  const given = /^#token=(.+)$/.exec(location.hash)?.[1]
  if (given !== undefined) {
    localStorage.setItem("belay.token", decodeURIComponent(given))
    // The token stays out of the history of the browser.
    history.replaceState(null, "", location.pathname)
  }
  const say = (text: string, isError = false): void => {
    element("status").textContent = text
    element("status").className = isError ? "error" : ""
  }
  const call = async (path: string, sent?: unknown): Promise<unknown> => {
    const response = await fetch(api + path, {
      method: sent === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${localStorage.getItem("belay.token") ?? ""}` },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) })
    })
    // The handler answers with JSON.
    const answer = await response.json() as { readonly error?: string }
    element("login").hidden = response.status !== 401
    if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`)
    return answer
  }
  const tried = (act: () => Promise<unknown>): Promise<unknown> =>
    act().catch((error) => say(String(error.message), true))
  const ago = (since: number): string => {
    const seconds = Math.round((performance.timeOrigin + performance.now() - since) / 1_000)
    if (seconds < 0) return `in ${-seconds} s`
    if (seconds < 120) return `for ${seconds} s`
    return seconds < 7_200 ? `for ${Math.round(seconds / 60)} min` : `for ${Math.round(seconds / 3_600)} h`
  }

  /** A button. What cannot be undone has to be pressed a second time. */
  const button = (label: string, session: Session, sent: object, isFinal: boolean): Node => {
    const node = make("button", "", label)
    node.setAttribute("aria-label", `${label} ${session.id}`)
    let isAsked = false
    node.addEventListener("click", () => {
      if (isFinal && !isAsked) {
        isAsked = true
        node.className = "confirm"
        node.textContent = `${label}: nobody can undo it. Do it`
        return
      }
      node.disabled = true
      void tried(async () => {
        await call(`/${encodeURIComponent(session.id)}`, { ...sent, ...(isFinal ? { confirmed: true } : {}) })
        await loadAfter(label, session)
      })
    })
    return node
  }

  const entryOf = (session: Session, { key, kind, status }: Session["entries"][number]): Node => {
    const row = make("div", "entry", make("span", "", `${key} · ${kind} · ${status}`))
    if (status === "dead") {
      row.append(button("Retry", session, { act: "retry", key }, false))
      row.append(button("Drop", session, { act: "drop", key }, true))
    } else if (kind === "message" || kind === "steer") {
      row.append(button("Cancel", session, { act: "cancel", key }, true))
    }
    return row
  }

  const historyOf = (session: Session): Node => {
    const node = make("details", "", make("summary", "", "History"))
    const list = make("div", "history")
    node.append(list)
    node.addEventListener("toggle", () => {
      if (!node.open) return
      void tried(async () => {
        const { messages } = await call(`/${encodeURIComponent(session.id)}`) as Shown
        list.replaceChildren(
          ...messages.map(({ calls, role, text }) =>
            make("pre", "", `${role}: ${text}${calls === undefined ? "" : ` ${JSON.stringify(calls)}`}`)
          )
        )
      })
    })
    return node
  }

  const moveOf = (session: Session): Node => {
    const form = make("form", "entry")
    const name = document.createElement("input")
    name.setAttribute("aria-label", `Release for ${session.id}`)
    name.setAttribute("placeholder", "release")
    form.append(
      make("span", "", `pinned to ${session.release}`),
      button("Release", session, { act: "release" }, false),
      name,
      make("button", "", "Move")
    )
    form.addEventListener("submit", (event) => {
      event.preventDefault()
      void tried(async () => {
        await call(`/${encodeURIComponent(session.id)}`, { act: "move", release: name.value })
        await loadAfter("Move", session)
      })
    })
    return form
  }

  const articleOf = (session: Session): Node =>
    make(
      "article",
      session.state,
      make("h2", "", session.id),
      make("p", "", make("span", "state", session.state), ` ${ago(session.since)}: ${session.why}`),
      ...session.entries.map((entry) => entryOf(session, entry)),
      ...(session.release === undefined ? [] : [moveOf(session)]),
      historyOf(session),
      button("Erase", session, { act: "erase" }, true)
    )

  const load = async (): Promise<ReadonlyArray<Session>> => {
    const state = element("state").value
    const { sessions } = await call(state === "" ? "" : `?state=${state}`) as { sessions: ReadonlyArray<Session> }
    element("empty").hidden = sessions.length > 0
    element("sessions").replaceChildren(...sessions.map(articleOf))
    say(`${sessions.length} sessions`)
    return sessions
  }

  /** Loads after something was done for a session. One that was stuck gets two seconds in which a process begins it. */
  const loadAfter = async (label: string, { id, state }: Session): Promise<void> => {
    let looks = 10
    while ((await load()).some((one) => one.id === id && one.state === "stuck" && state === "stuck") && --looks > 0) {
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    say(`${label}: done for ${id}`)
  }

  element("reload").addEventListener("click", () => void tried(load))
  element("state").addEventListener("change", () => void tried(load))
  element("login").addEventListener("submit", (event) => {
    event.preventDefault()
    localStorage.setItem("belay.token", element("token").value)
    void tried(load)
  })
  void tried(load)
}
