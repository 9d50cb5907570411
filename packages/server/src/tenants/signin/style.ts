/** The look of the pages of sign-in: the console's own colours and sizes, and the few forms that these pages have. */
import { createHash } from 'node:crypto'
import { pageStyle } from '../../ground/http/page-style.ts'

const rules = `
*{box-sizing:border-box}
body{margin:0;font:var(--t-body)/1.45 var(--sans);color:var(--n10);background:var(--n1);-webkit-font-smoothing:antialiased}
main{width:100%;max-width:360px;margin:0 auto;padding:18vh 16px 48px}
header{display:grid;place-items:center;width:28px;height:28px;margin-bottom:16px;border-radius:8px;background:var(--n11);color:var(--n1);font-size:0}
header::before{content:'S';font-size:var(--t-read);font-weight:700}
h1{margin:0 0 4px;font-size:var(--t-title);font-weight:600;letter-spacing:-.01em;color:var(--n11)}
h2{margin:24px 0 8px;font-size:var(--t-body);font-weight:600;color:var(--n11)}
p{margin:8px 0;color:var(--n9);overflow-wrap:anywhere}
strong{font-weight:500;color:var(--n11)}
a{color:var(--accent);text-decoration:none}
a:hover{text-decoration:underline}
form{margin:16px 0}
label{display:block;margin-bottom:16px;font-weight:500;color:var(--n11)}
input{display:block;width:100%;height:36px;margin-top:6px;padding:0 10px;font:inherit;font-weight:400;color:var(--n11);background:var(--n1);border:1px solid var(--n6);border-radius:var(--radius)}
button,.button{display:block;width:100%;height:36px;padding:0 12px;font:500 var(--t-body)/34px var(--sans);text-align:center;color:var(--n10);background:var(--n1);border:1px solid var(--n6);border-radius:var(--radius);cursor:pointer}
button:hover,.button:hover{background:var(--n3);text-decoration:none}
form.first button{color:var(--on-accent);background:var(--accent);border-color:var(--accent)}
form.first button:hover{background:var(--accent-hover);border-color:var(--accent-hover)}
.button{margin:8px 0}
.or{display:flex;align-items:center;gap:12px;margin:16px 0;font-size:var(--t-small);color:var(--n8)}
.or::before,.or::after{content:'';flex:1;border-top:1px solid var(--n5)}
footer{margin-top:32px;font-size:var(--t-small);color:var(--n8)}
[role=alert]{padding:8px 12px;border-radius:var(--radius);background:var(--failed-quiet);color:var(--n11)}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
input:focus-visible{outline-offset:-1px;border-color:var(--accent)}
`

let made: { text: string; hash: string } | undefined

/** Read with the first page. */
export function signInStyle(): { text: string; hash: string } {
  if (made) return made
  const text = pageStyle(rules)
  made = { text, hash: createHash('sha256').update(text).digest('base64') }
  return made
}
