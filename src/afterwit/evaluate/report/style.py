"""The look: system fonts, light and dark, no colour that carries meaning alone."""

STYLE = """
:root{--paper:#fbfaf7;--ink:#1d1d1b;--soft:#5f5d57;--rule:#dcd8cf;--own:#0b5f8a;--other:#6b6558;--mark:#b3471d}
@media (prefers-color-scheme:dark){:root{--paper:#16181a;--ink:#ebe8e1;--soft:#a8a49a;--rule:#393b3d;--own:#63b8e6;
--other:#b5ae9f;--mark:#f08a5b}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
header,main{max-width:72rem;margin:0 auto;padding:1rem 1.25rem}
h1{font-size:1.9rem;margin:.5rem 0}
h2{font-size:1.3rem;margin:2.5rem 0 .6rem;border-top:1px solid var(--rule);padding-top:1rem}
nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;list-style:none;padding:0;margin:0;font-size:.92rem}
a{color:var(--own)}
a:focus-visible,summary:focus-visible,.scroll:focus-visible{outline:3px solid var(--mark);outline-offset:2px}
.skip{position:absolute;left:-999px}.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem}
.keys{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:1rem}
.key{border:1px solid var(--rule);border-radius:.5rem;padding:.8rem 1rem}
.key .name,.hint,small,.range,.none{color:var(--soft);font-size:.86rem}
.key .figure{font-size:1.7rem;font-weight:600;line-height:1.25}.key .range{font-size:.95rem;font-weight:400}
.panels{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(19rem,100%),1fr));gap:1rem}
figure{margin:0;border:1px solid var(--rule);border-radius:.5rem;padding:.6rem}
figcaption{font-size:.92rem;font-weight:600}
figcaption .range{font-weight:400}
.scroll{overflow-x:auto;margin:.8rem 0}table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;color:var(--soft);padding:.3rem 0}
th,td{text-align:left;vertical-align:middle;padding:.35rem .7rem;border-bottom:1px solid var(--rule)}
thead th{color:var(--soft);font-weight:600;vertical-align:bottom}
tbody th{font-weight:500;min-width:10rem}th,td{overflow-wrap:normal;word-break:normal}td{min-width:4.5rem}
details{margin:1rem 0}summary{cursor:pointer}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(16rem,1fr));gap:.3rem 1.5rem;font-size:.9rem}
.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-x:auto}
.life li{margin:.3rem 0}.wide{max-width:46rem}
svg{display:block;max-width:100%}svg text{font:11px system-ui,sans-serif;fill:var(--soft)}
.grid{stroke:var(--rule);stroke-width:1}.zero{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 3}
.line{fill:none;stroke-width:2.2}.own .line{stroke:var(--own)}.other .line{stroke:var(--other);stroke-dasharray:6 3}
.band{opacity:.2}.own .band{fill:var(--own)}.other .band{fill:var(--other)}
.dot{opacity:.55}.own .dot{fill:var(--own)}.other .dot{fill:var(--other)}
.interval{stroke:var(--own);stroke-width:3}.mean{fill:var(--own)}
.after{stroke:var(--other);fill:var(--other);stroke-width:1.2}.joint{fill:none;stroke:var(--mark);stroke-width:1.8}
.mark{font-weight:700}
@media print{.skip,nav{display:none}}
"""
