"""How a certificate looks: one page, light and dark, and a sheet of A4 for each workshop.

Both are templates for ``str.format``; what goes into them is escaped where it is put in.
"""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'">
<title>Certificate of replay: {title}</title>
<style>
:root {{ color-scheme: light dark; --line: #8886; --pass: #1a7f37; --fail: #b3400f;
  --wait: #6b6b6b; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --pass: #4cc26a; --fail: #ff9a5c; --wait: #a5a5a5; }} }}
body {{ font: .9rem/1.4 system-ui, sans-serif; max-width: 48rem; margin: 0 auto; padding: 1rem; }}
h1 {{ font-size: 1.3rem; margin: 0; }} h2 {{ font-size: 1rem; margin: .9rem 0 .2rem; }}
p {{ margin: .25rem 0; }} .who {{ font-size: 1.05rem; }}
h1, p, td, code {{ overflow-wrap: anywhere; }}
table {{ border-collapse: collapse; width: 100%; }}
td, th {{ border-bottom: 1px solid var(--line); padding: .15rem .4rem .15rem 0;
  text-align: left; vertical-align: top; }}
th {{ font-weight: normal; font-size: .8em; color: var(--wait); }}
td:first-child, td:last-child {{ white-space: nowrap; }} td:first-child {{ width: 6.5em; }}
.files {{ columns: 2; column-gap: 1.5rem; }}
.files td:first-child {{ white-space: normal; width: auto; }}
.files table {{ font-size: .75rem; }} tr {{ break-inside: avoid; }}
.pass {{ color: var(--pass); }} .fail {{ color: var(--fail); }}
.blocked, .none, .small, .titles {{ color: var(--wait); }}
.titles {{ font-size: .75rem; line-height: 1.3; }} .small {{ font-size: .8rem; }}
.box {{ border-left: 3px solid var(--line); padding-left: .6rem; }}
section + section {{ margin-top: 3rem; }}
@page {{ size: A4; margin: 9mm 12mm; }}
@media print {{ body {{ font-size: 8pt; line-height: 1.3; max-width: none; padding: 0; }}
  h1 {{ font-size: 13pt; }} h2 {{ font-size: 9.5pt; margin: .6em 0 .1em; }}
  td, th {{ padding: .05rem .3rem .05rem 0; }} .files table, .titles {{ font-size: 6.8pt; }}
  section + section {{ break-before: page; margin-top: 0; }}
  :root {{ color-scheme: light; --pass: #1a7f37; --fail: #b3400f; --wait: #555; }} }}
</style>
</head>
<body>
{sheets}</body>
</html>
"""

SHEET = """<section>
<p class="small">Certificate of replay</p>
<h1>{title}: {summary}</h1>
{who}<p>{rule}</p>
<p class="small">Judged {when} with {versions}.</p>
<h2>What was reached</h2>
<table><thead><tr><th>outcome</th><th>block, and its visible checks</th><th>pass</th></tr></thead>
<tbody>{blocks}</tbody></table>
<h2>What was judged</h2>
<p>The work: <code>{whole}</code>. The checks and what else was given: <code>{checks}</code>.</p>
<div class="files"><table><thead><tr><th>file</th><th>SHA-256</th></tr></thead>
<tbody>{files}</tbody></table></div>
<p class="small">The first 16 digits of each file's SHA-256, CR LF counted as LF, as git keeps
it. The two digests above are those of the lists “digest, two blanks, path”, sorted by path.</p>
<h2>See it again</h2>
<p class="box">In the folder with these files: <code>{command}</code><br>{expected}</p>
<h2>What this proves, and what it does not</h2>
<p>At that time the files with these digests passed the visible checks that are counted above, and
whoever has the files can see it again. It does not say who did the work, or how long it took.
Grading asks more: hidden inputs, and tests run on gates that are wrong on purpose. Whoever runs a
check can also change it; compare the second digest with that of a fresh workspace.</p>
</section>
"""
