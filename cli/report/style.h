// SPDX-FileCopyrightText: The hetsort authors
// SPDX-License-Identifier: Apache-2.0
//
// The style sheet of `hetsort report`: light, dark and printed.
#pragma once

#include <string_view>

namespace hetsort::cli {

/// Bars carry white text, on light and on dark: their colours have a contrast of 4.5 to white.
constexpr std::string_view kReportStyle = R"css(
:root { color-scheme: light dark; --back: #fff; --text: #1c2126; --soft: #5b6570; --line: #d6dbe0; --zebra: #f5f7f9;
  --link: #1a5fb4; --pale: #b9c6d6; --band: #cfd9e4; --mark: #10151a; --bad: #a8201a; }
@media screen and (prefers-color-scheme: dark) {
  :root { --back: #14181c; --text: #e6eaee; --soft: #9aa5b1; --line: #333b44; --zebra: #1b2026; --link: #7ab7ff;
    --pale: #4a5a6d; --band: #3a4858; --mark: #f2f5f8; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1.25rem 3rem; max-width: 80rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.2rem; margin: 0; display: inline; }
#comparison > h2, #environment > h2 { display: block; margin-bottom: .75rem; }
header p { margin: .25rem 0 0; color: var(--soft); overflow-wrap: anywhere; }
a { color: var(--link); }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .25rem .5rem; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: .6rem 0; margin: .75rem 0 0;
  border-block: 1px solid var(--line); }
section { margin-top: 1.75rem; }
section:has(> details:not([open])) { margin-top: .75rem; }
summary { cursor: pointer; padding: .2rem 0; }
details.run > summary { border-bottom: 1px solid var(--line); padding-bottom: .4rem; margin-bottom: .75rem; }
h2, td, th, dd, p, li, caption { unicode-bidi: isolate; }
h2, li { overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11rem, 1fr)); gap: .5rem 1.5rem; margin: 0 0 1rem; }
.long { grid-column: 1 / -1; }
dt { color: var(--soft); font-size: .8rem; }
dd { margin: 0; overflow-wrap: anywhere; }
.tables { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.tables > .wide { max-width: 100%; }
/* Shades at the edges show that a table goes on there: those in front scroll with it and cover them at its ends. */
.wide { overflow-x: auto; margin: .75rem 0 1.25rem; background:
  linear-gradient(to right, var(--back) 40%, transparent) left / 2rem 100% local,
  linear-gradient(to left, var(--back) 40%, transparent) right / 2rem 100% local,
  linear-gradient(to right, var(--soft), transparent) left / .7rem 100%,
  linear-gradient(to left, var(--soft), transparent) right / .7rem 100%; background-repeat: no-repeat; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
caption { text-align: left; white-space: nowrap; font-weight: 600; padding-bottom: .3rem; }
th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody th, td:not(.n) { min-width: 7rem; max-width: 44rem; overflow-wrap: anywhere; }
thead th { color: var(--soft); font-weight: 500; vertical-align: bottom; border-bottom-color: var(--soft); }
tbody th { font-weight: 500; }
tbody tr:nth-child(even) { background: var(--zebra); }
.n { text-align: right; white-space: nowrap; }
thead .n { white-space: normal; }
figure { margin: .75rem 0 1rem; overflow: clip; }
figcaption { color: var(--soft); font-size: .85rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 1.5rem; }
.entry { white-space: nowrap; }
.sample { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 .6em; border-radius: 2px;
  vertical-align: -.05em; }
.small, footer { color: var(--soft); font-size: .85rem; }
.note, .error { border-left: 4px solid var(--link); padding: .3rem .8rem; background: var(--zebra);
  overflow-wrap: anywhere; }
.error { border-color: var(--bad); color: var(--bad); white-space: pre-wrap; }
.chart { --left: var(--roomy); display: block; margin-left: var(--left); width: calc(100% - var(--left) - 24px);
  overflow: visible; font-family: inherit; }
.chart .tight { display: none; }
@media screen and (max-width: 46rem) {
  body { padding-inline: .75rem; }
  .chart { --left: var(--tight); }
  .chart .tight { display: inline; }
  .chart .roomy, .chart .odd, .chart .inside { display: none; }
}
.chart .axis { stroke: var(--soft); }
.chart .gridline { stroke: var(--line); }
.chart text { fill: var(--text); font-size: 12px; pointer-events: none; }
.chart .inside text { fill: #fff; }
.bar:hover rect { opacity: .8; }
.phase0 rect { fill: #2f6db3; } .sample.phase0 { background: #2f6db3; }
.phase1 rect { fill: #b4521a; } .sample.phase1 { background: #b4521a; }
.phase2 rect { fill: #2c7d4c; } .sample.phase2 { background: #2c7d4c; }
.phase3 rect { fill: #8a4a9e; } .sample.phase3 { background: #8a4a9e; }
.phase4 rect { fill: #b0304a; } .sample.phase4 { background: #b0304a; }
.phase5 rect { fill: #0f7a82; } .sample.phase5 { background: #0f7a82; }
.phase6 rect { fill: #7a6712; } .sample.phase6 { background: #7a6712; }
.phase7 rect { fill: #5d6873; } .sample.phase7 { background: #5d6873; }
.waits rect { fill: #3b434c; } .sample.waits { background: #3b434c; }
.planned rect { fill: var(--pale); } .sample.planned { background: var(--pale); }
.actual rect, .median rect, .read rect { fill: #2f6db3; }
.sample.actual, .sample.median, .sample.read { background: #2f6db3; }
.written rect { fill: #b4521a; } .sample.written { background: #b4521a; }
.sent rect { fill: #2c7d4c; } .sample.sent { background: #2c7d4c; }
.band rect { fill: var(--band); } .sample.band { background: var(--band); }
.one rect { fill: var(--mark); } .sample.one { background: var(--mark); width: .25em; }
.predicted rect { fill: #e08a00; } .sample.predicted { background: #e08a00; width: .25em; }
@media print {
  html, body { font-size: 11px; }
  body { max-width: none; padding: 0; }
  nav, .skip { display: none; }
  figure, tr { break-inside: avoid; }
  .wide, figure { overflow: visible; }
  * { print-color-adjust: exact; }
  details::details-content { content-visibility: visible; display: block; }
}
)css";

}  // namespace hetsort::cli
