/** Styles of the pages that the service writes itself, over the colours and sizes of the console. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Returns the tokens of the console and the rules, without comments. */
export function pageStyle(rules: string): string {
  const tokens = readFileSync(fileURLToPath(import.meta.resolve('@steward/console/tokens.css')))
  return (tokens.toString('utf8') + rules).replaceAll(/\/\*[^]*?\*\//g, '').trim()
}
