/** The look of the documentation. Pages and sections stand beside the text where the window is wide, else above it. */
import { pageStyle } from '../../ground/http/page-style.ts'

const rules = `
*{box-sizing:border-box}
html{scroll-padding-top:72px;-webkit-text-size-adjust:100%}
body{margin:0;font:var(--t-read)/1.6 var(--sans);color:var(--n10);background:var(--n1);-webkit-font-smoothing:antialiased}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
.skip{position:absolute;left:-999px}
.skip:focus{left:16px;top:16px;z-index:2;padding:4px 12px;background:var(--n1)}
.bar{position:sticky;top:0;z-index:1;display:flex;align-items:center;gap:4px 20px;height:52px;padding:0 max(24px,calc((100% - 1312px) / 2));background:var(--n1);border-bottom:1px solid var(--n5)}
.bar a{color:var(--n9);white-space:nowrap}
.bar a:hover{color:var(--n11);text-decoration:none}
.bar .home{display:flex;align-items:center;gap:10px;margin-right:auto;font-weight:600;color:var(--n11)}
.home::before{content:'S';display:grid;place-items:center;width:26px;height:26px;border-radius:7px;background:var(--n11);color:var(--n1);font-weight:700}
.frame{max-width:1360px;margin:0 auto;padding:0 24px}
main{position:relative;min-width:0;max-width:820px;overflow-x:clip;padding:32px 0 72px;overflow-wrap:break-word}
h1,h2,h3,h4{color:var(--n11);line-height:1.3;font-weight:600}
h1{margin:0 0 16px;font-size:var(--t-figure);letter-spacing:-.02em}
h2{margin:36px 0 12px;padding-top:18px;border-top:1px solid var(--n5);font-size:var(--t-title);letter-spacing:-.01em}
h3{margin:32px 0 8px;font-size:var(--t-head)}
h4{margin:24px 0 8px;font-size:var(--t-read)}
.anchor{position:absolute;margin-left:.3em;color:var(--n7);font-weight:400;opacity:0}
:is(h1,h2,h3,h4):hover .anchor,.anchor:focus-visible{opacity:1}
p,ul,ol{margin:12px 0}
ul,ol{padding-left:24px}
li{margin:4px 0}
strong{font-weight:600;color:var(--n11)}
hr{border:0;border-top:1px solid var(--n5);margin:32px 0}
blockquote{margin:16px 0;padding:0 16px;border-left:3px solid var(--n6);color:var(--n9)}
code,pre{font-family:var(--mono);font-size:.9em}
code{padding:.1em .35em;border-radius:4px;background:var(--n3)}
pre{margin:16px 0;padding:14px 16px;overflow-x:auto;line-height:1.5;background:var(--n2);border:1px solid var(--n5);border-radius:var(--radius)}
pre code{padding:0;background:none;font-size:inherit}
.requirement{font:.8em var(--mono);color:var(--n8);overflow-wrap:anywhere}
pre:has(>.language-text){background:none;border-style:dashed}
.source{color:var(--n9)}
.table{margin:16px 0;overflow-x:auto;border:1px solid var(--n5);border-radius:var(--radius)}
table{width:100%;border-collapse:collapse}
th,td{padding:8px 12px;text-align:left;vertical-align:top;border-top:1px solid var(--n5)}
th{font-size:var(--t-small);color:var(--n9);background:var(--n2);border-top:0}
tr:first-child>th:empty{padding:0}
td[align=right],th[align=right]{text-align:right;white-space:nowrap}
td{overflow-wrap:break-word}
img{display:block;max-width:100%;height:auto;margin:20px 0;border:1px solid var(--n5);border-radius:var(--radius)}
summary{padding:10px 0;font-weight:500;color:var(--n11);cursor:pointer}
.pages,.sections{border-bottom:1px solid var(--n5)}
nav{font-size:var(--t-body);line-height:1.45}
nav h2{margin:20px 0 4px;padding:0;border:0;font-size:var(--t-small);letter-spacing:0;color:var(--n8)}
nav ul{margin:0;padding:0;list-style:none}
nav li{margin:0}
nav li a{display:block;padding:4px 8px;margin:0 -8px;border-radius:var(--radius);color:var(--n9)}
nav li a:hover{color:var(--n11);background:var(--n3);text-decoration:none}
nav a[aria-current]{color:var(--n11);font-weight:500;background:var(--n3)}
nav .inner{padding-left:14px}
footer{margin-top:56px;padding-top:16px;border-top:1px solid var(--n5);font-size:var(--t-body);color:var(--n8)}
@media (min-width:1000px){
  .frame{display:grid;grid-template-columns:224px minmax(0,1fr);gap:0 48px;align-items:start}
  .pages{grid-row:1/3;border:0}
  .sections{grid-column:2;max-width:820px}
  main{grid-column:2}
}
@media (min-width:1280px){
  .frame{grid-template-columns:224px minmax(0,1fr) 208px}
  .pages,main{grid-row:1}
  .sections{grid-column:3;grid-row:1;border:0}
}
@supports selector(::details-content){
  @media (min-width:1000px){
    .pages{position:sticky;top:52px;max-height:calc(100vh - 52px);padding:16px 8px 32px;overflow-y:auto}
    .pages>summary{display:none}
    .pages::details-content{content-visibility:visible;display:block;height:auto}
  }
  @media (min-width:1280px){
    .sections{position:sticky;top:52px;max-height:calc(100vh - 52px);padding:32px 8px;overflow-y:auto}
    .sections>summary{display:none}
    .sections::details-content{content-visibility:visible;display:block;height:auto}
  }
}
@media (max-width:999px){
  .pages nav,.sections nav{padding-bottom:16px}
}
@media (max-width:600px){
  .bar{padding:0 16px;gap:4px 14px}
  .frame{padding:0 16px}
  main{padding-top:20px}
  th,td{padding:8px 10px}
}
@media print{
  .bar,.pages,.sections,.anchor{display:none}
}
`

export const docsStyle = (): string => pageStyle(rules)
