/** The entries that the domain lists of the web tools accept. [tools/web/lists] */

const localNames = /(^|\.)(localhost|local|internal|localdomain|invalid)$/
/** Second-level names under which countries sell names, such as `co` in `co.uk`. The list is not complete. */
const secondLevels = new Set(
  'ac co com edu gob gouv gov mil net nom or org ne go re sch nhs ltd plc'.split(' '),
)
const label = /^[a-z\d]([a-z\d-]{0,61}[a-z\d])?$/

/** Normalises an entry, so that two entries with the same meaning are equal. */
export const sameDomain = (text: string): string => text.toLowerCase().replace(/\/$/, '')

/** The reason why the text is no host, as the end of a sentence. `path`: the host may have a path. */
export function domainProblem(
  text: string,
  { path: mayHavePath = false } = {},
): string | undefined {
  const [host = '', ...path] = sameDomain(text).split('/')
  const marks: [boolean, string][] = [
    [/\s/.test(text), 'holds whitespace'],
    [text.includes('://'), 'has a scheme'],
    [text.includes('@'), 'holds credentials'],
    [text.includes('*'), 'holds a wildcard; a host covers those below it by itself'],
    [/[^\0-\x7f]/.test(text), 'is not ASCII; write it in punycode'],
    [path.length > 0 && !mayHavePath, 'has a path'],
    [/[?#$,|^!]/.test(path.join('/')), 'has a path with one of ? # $ , | ^ !'],
    [isAddress(host), 'is an IP address'],
    [host.includes(':'), 'has a port'],
    [localNames.test(host), 'names no host of the web'],
    [!host.includes('.'), 'has a single label'],
    [!host.split('.').every((part) => label.test(part)), 'is no host name'],
    [isSuffix(host), 'is a suffix under which others have names'],
  ]
  return marks.find(([isWrong]) => isWrong)?.[1]
}

/** Recognises every form of an address in a URL: 127.1 and 0x7f000001 are addresses. */
function isAddress(host: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? ''
  return (
    name.startsWith('[') || /^\d+(\.\d+){3}$/.test(name) || /(^|\.)(\d+|0x[\da-f]*)$/.test(host)
  )
}

function isSuffix(host: string): boolean {
  const [second = '', country = '', ...more] = host.split('.')
  return more.length === 0 && /^[a-z]{2}$/.test(country) && secondLevels.has(second)
}
