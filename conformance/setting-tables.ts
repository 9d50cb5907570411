/** Generates what docs have of the settings: tables, schemas and examples, from the declarations of server and worker. */
import type { ConfiguredProgram } from '@steward/base/settings/config-command.ts'
import { settingsExample } from '@steward/base/settings/settings-example.ts'
import { settingsSchema } from '@steward/base/settings/settings-schema.ts'
import type { SettingsProgram } from '@steward/base/settings/program.ts'
import { settingsTables } from '@steward/base/settings/program.ts'
import type { SettingsTree } from '@steward/base/settings/setting.ts'
import { serverProgram } from '@steward/server/ground/config/settings.ts'
import { serverConfiguration } from '@steward/server/start/commands/config.ts'
import { workerConfiguration } from '@steward/worker/config.ts'
import { workerSettings } from '@steward/worker/settings.ts'

export const documents: readonly { path: string; program: SettingsProgram<SettingsTree> }[] = [
  { path: 'docs/settings.md', program: serverProgram },
  { path: 'docs/workers.md', program: workerSettings },
]

const filesOf = (
  { program, schema, command }: Omit<ConfiguredProgram, 'problemsOf'>,
  example: string,
) => [
  { path: `docs/${schema}`, text: `${JSON.stringify(settingsSchema(program), null, 2)}\n` },
  {
    path: `docs/${example}`,
    text: settingsExample(program, { schema, checkCommand: `${command} check` }),
  },
]

/** Files that are generated whole. */
export const generatedFiles: readonly { path: string; text: string }[] = [
  ...filesOf(serverConfiguration, 'steward.example.yaml'),
  ...filesOf(workerConfiguration, 'worker.example.yaml'),
]

const begin = '<!-- settings: written by scripts/settings.ts -->'
const end = '<!-- settings: end -->'

/** Returns the document with new tables between its two markers. */
export function withTables(document: string, program: SettingsProgram<SettingsTree>): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the document needs ${begin} and, below it, ${end}`)
  return `${document.slice(0, from)}${begin}\n\n${settingsTables(program)}\n\n${document.slice(to)}`
}
