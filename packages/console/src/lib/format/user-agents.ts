/** A browser as people name it: `Firefox on Linux`. What is no browser stands as it is. */
const browsers: [name: string, mark: RegExp][] = [
  ['Edge', /\bEdg(?:A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
]
const systems: [name: string, mark: RegExp][] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
]

const nameIn = (list: typeof browsers, agent: string): string | undefined =>
  list.find(([, mark]) => mark.test(agent))?.[0]

export function browserOf(agent: string): string {
  const browser = nameIn(browsers, agent)
  const system = nameIn(systems, agent)
  if (browser === undefined) return agent
  return system === undefined ? browser : `${browser} on ${system}`
}
