/** The one script of these pages: reads the token of a link, which stands behind `#`, takes it out of the address, and goes on. */
import { packedBytes } from '../../ground/http/bodies/packed-bytes.ts'

const script = `const token = location.hash.slice(1)
if (token !== '') {
  history.replaceState(null, '', location.pathname)
  const [form] = document.forms
  form.elements.token.value = token
  form.requestSubmit()
}
`

export const linkScript = packedBytes(
  async () => Buffer.from(script),
  [
    ['content-type', 'text/javascript; charset=utf-8'],
    ['x-content-type-options', 'nosniff'],
    ['cache-control', 'public, max-age=3600'],
  ],
)
