/** Generates the tables of settings in docs from the declarations of server and worker. */
import type { SettingsProgram } from '@steward/base/settings/program.ts'
import { settingsTables } from '@steward/base/settings/program.ts'
import type { SettingsTree } from '@steward/base/settings/setting.ts'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import { workerSettings } from '@steward/worker/settings.ts'

export const documents: readonly { path: string; program: SettingsProgram<SettingsTree> }[] = [
  { path: 'docs/settings.md', program: serverProgram },
  { path: 'docs/workers.md', program: workerSettings },
]

const begin = '<!-- settings: written by scripts/settings.ts -->'
const end = '<!-- settings: end -->'

/** Returns the document with new tables between its two markers. */
export function withTables(document: string, program: SettingsProgram<SettingsTree>): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the document needs ${begin} and, below it, ${end}`)
  return `${document.slice(0, from)}${begin}\n\n${settingsTables(program)}\n\n${document.slice(to)}`
}
