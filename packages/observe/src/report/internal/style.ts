/** The style of a report: light and dark, for wide screens and for phones. */
export const style = `
:root { color-scheme: light dark; --text: #1b1f24; --dim: #57606a; --line: #d7dce1; --back: #fff; --panel: #f5f7f9;
  --good: #1a7f37; --bad: #c1121f; --changed: #8a5a00; --open: #0550ae; --plain: #6e7781; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --dim: #9aa5b1; --line: #30363d; --back: #0d1117;
  --panel: #161b22; --good: #3fb950; --bad: #ff7b72; --changed: #e3b341; --open: #79c0ff; --plain: #8b949e; } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.45 system-ui, sans-serif }
main { max-width: 1200px; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.4rem; margin: .2rem 0 }
p { color: var(--dim); margin: .2rem 0 1rem; overflow-wrap: anywhere }
#totals { display: grid; grid-template-columns: repeat(auto-fill, minmax(8.5rem, 1fr)); gap: .5rem; margin: 0 0 1rem }
#totals > div { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .4rem .7rem }
#totals dt { color: var(--dim); font-size: .8rem }
#totals dd { margin: 0; font-weight: 600 }
.tools { position: sticky; top: 0; z-index: 1; background: var(--back); padding: .5rem 0; display: flex;
  flex-wrap: wrap; gap: .5rem; align-items: center; border-bottom: 1px solid var(--line) }
#kinds { display: flex; flex-wrap: wrap; gap: .3rem }
button, input[type=search] { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--line);
  border-radius: 999px; padding: .25rem .8rem }
button { cursor: pointer }
button[aria-pressed=false] { opacity: .55; text-decoration: line-through }
input[type=search] { flex: 1 1 12rem; min-width: 8rem }
:focus-visible { outline: 3px solid var(--open); outline-offset: 2px }
#count { color: var(--dim); margin-left: auto }
ol { list-style: none; margin: 0; padding: 0 }
li { border-bottom: 1px solid var(--line); padding-left: calc(var(--depth) * 1.2rem); content-visibility: auto;
  contain-intrinsic-size: auto 2.2rem }
summary { display: grid; grid-template-columns: 4.5rem 1fr 9rem 4.5rem 11rem; gap: .6rem; align-items: center;
  padding: .35rem .3rem; cursor: pointer; list-style: none }
summary::-webkit-details-marker { display: none }
summary:hover { background: var(--panel) }
li.more { padding: .6rem .3rem }
.at, .ms { color: var(--dim); font-variant-numeric: tabular-nums; white-space: nowrap }
.ms { text-align: right }
.what { overflow-wrap: anywhere }
.note { color: var(--dim) }
li.turn > details > summary b, li.session > details > summary b { font-size: 1.05em }
.state { color: var(--plain); font-size: .85rem }
li.good .state { color: var(--good) } li.bad .state { color: var(--bad) }
li.changed .state { color: var(--changed) } li.open .state { color: var(--open) }
.chip { display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 .5rem;
  margin: 0 0 0 .3rem; font-size: .8rem }
.chip.bad, tr.bad td:nth-child(3) { color: var(--bad) }
.chip.changed, tr.changed td:nth-child(3) { color: var(--changed) }
.track { position: relative; height: .7rem; background: var(--panel); border-radius: 3px; overflow: hidden }
.bar { position: absolute; inset: 0 auto 0 var(--from); width: max(3px, var(--size)); background: var(--plain);
  border-radius: 3px }
.bar.good { background: var(--good) } .bar.bad { background: var(--bad) } .bar.changed { background: var(--changed) }
.bar.open { background: var(--open) }
.details { padding: .2rem .3rem 1rem 5.4rem }
.details dl { margin: 0 } .details dt { color: var(--dim); font-size: .85rem; margin-top: .5rem }
.details dd { margin: 0 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--panel); border: 1px solid var(--line);
  border-radius: 6px; padding: .5rem .7rem; margin: .2rem 0; font: .85rem/1.4 ui-monospace, monospace }
.scroll { overflow-x: auto }
table { border-collapse: collapse; font-size: .85rem; margin: .3rem 0 }
th, td { text-align: left; padding: .25rem .7rem .25rem 0; vertical-align: top; border-bottom: 1px solid var(--line) }
td:nth-child(4), td:nth-child(5) { overflow-wrap: anywhere; min-width: 9rem }
th { color: var(--dim); font-weight: 500 }
@media (max-width: 720px) {
  summary { grid-template-columns: 4rem 1fr 4rem } .state, .track { display: none } .details { padding-left: .3rem }
  li.bad summary { border-left: 4px solid var(--bad) } li.changed summary { border-left: 4px solid var(--changed) }
}
`
