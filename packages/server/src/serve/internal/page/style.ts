/** The style of the page: light and dark, for wide screens and for phones. */
export const style = `
:root { color-scheme: light dark; --text: #1b1f24; --dim: #57606a; --line: #d7dce1; --back: #fff; --panel: #f5f7f9;
  --user: #ddeafc; --good: #1a7f37; --bad: #c1121f; --ask: #8a5a00; --accent: #0550ae }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --dim: #9aa5b1; --line: #30363d; --back: #0d1117;
  --panel: #161b22; --user: #1c2f4a; --good: #3fb950; --bad: #ff7b72; --ask: #e3b341; --accent: #79c0ff } }
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
#page { max-width: 46rem; margin: 0 auto; min-height: 100dvh; display: flex; flex-direction: column }
header { position: sticky; top: 0; z-index: 1; display: flex; align-items: center; gap: .75rem; padding: .6rem 1rem;
  background: var(--back); border-bottom: 1px solid var(--line) }
h1 { font-size: 1.05rem; margin: 0; flex: 1 }
main { flex: 1; padding: 1rem }
#empty { color: var(--dim); text-align: center; margin-top: 20dvh }
article { margin: 0 0 1rem; overflow-wrap: anywhere }
article.user { background: var(--user); border-radius: 12px; padding: .5rem .8rem; margin-left: auto; max-width: 85%;
  width: fit-content }
p { margin: 0 0 .5rem } .text { white-space: pre-wrap } article.user p { margin: 0 }
details { border: 1px solid var(--line); border-radius: 8px; padding: .3rem .7rem; margin: 0 0 .5rem;
  background: var(--panel) }
summary { cursor: pointer } .reasoning, .hook { color: var(--dim); font-size: .9rem }
.hook { border-left: 3px solid var(--ask); padding-left: .6rem }
.label { color: var(--dim) } .output-available .label { color: var(--good) }
.output-error .label, .output-denied .label { color: var(--bad) }
.approval-requested { border-color: var(--ask) } .approval-requested .label { color: var(--ask); font-weight: 600 }
pre { margin: .4rem 0; white-space: pre-wrap; font: 13px/1.45 ui-monospace, monospace; max-height: 20rem;
  overflow: auto }
.buttons { display: flex; gap: .5rem; margin-bottom: .4rem }
button, textarea, input { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
  border-radius: 8px; padding: .5rem 1rem }
button { cursor: pointer; min-height: 2.75rem } .allow, #send { background: var(--accent); border-color: var(--accent);
  color: var(--back); font-weight: 600 }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
footer { position: sticky; bottom: 0; background: var(--back); border-top: 1px solid var(--line); padding: .6rem 1rem }
form { display: flex; gap: .5rem } textarea { flex: 1; resize: none; min-width: 0; field-sizing: content;
  max-height: 12rem; min-height: 2.75rem } #login { margin-bottom: 1rem } #token { flex: 1; min-width: 0 }
#status { min-height: 1.5rem; color: var(--dim); font-size: .9rem } #status.error { color: var(--bad) }
`
