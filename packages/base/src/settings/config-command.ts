/** The command `config` of a program: checks and shows what is given for its settings, and how a file gives them. */
import { gatherSettings, settingsFileVariable } from './gather.ts'
import type { SettingsProgram } from './program.ts'
import type { ProcessVariables, SettingsTree } from './setting.ts'
import type { GatheredSettings } from './sources.ts'

export const configVerbs = ['check', 'show', 'schema', 'example'] as const
type ConfigVerb = (typeof configVerbs)[number]

export type ConfiguredProgram = {
  program: SettingsProgram<SettingsTree>
  /** How a person calls the command. */
  command: string
  /** Name of the file that `schema` prints, as the example names it. */
  schema: string
  problemsOf: (gathered: GatheredSettings) => readonly string[]
}

/** Without problems, the command has done its work. */
type ConfigAnswer = { lines: readonly string[]; problems: readonly string[] }

export const isConfigVerb = (word: string | undefined): word is ConfigVerb =>
  configVerbs.some((verb) => verb === word)

/** Says how many values come from where. */
function summary({ origins }: GatheredSettings, environment: ProcessVariables): string {
  const count = (kind: string) => [...origins.values()].filter((each) => each.kind === kind).length
  const file = environment[settingsFileVariable]
  const parts = [
    `${count('variable')} by variables`,
    ...(file ? [`${count('settings_file')} by ${file}`] : []),
    `${count('secret_file')} by files of their own`,
  ]
  return `the settings can be read: ${parts.join(', ')}; all others have their defaults`
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)

export async function runConfigCommand(
  { program, command, schema, problemsOf }: ConfiguredProgram,
  { verb, isJson }: { verb: ConfigVerb; isJson: boolean },
  environment: ProcessVariables,
): Promise<ConfigAnswer> {
  const answer = (...lines: string[]): ConfigAnswer => ({ lines, problems: [] })
  if (verb === 'schema') {
    const { settingsSchema } = await import('./settings-schema.ts')
    return answer(json(settingsSchema(program)))
  }
  if (verb === 'example') {
    const { settingsExample } = await import('./settings-example.ts')
    const text = settingsExample(program, { schema, checkCommand: `${command} check` })
    return answer(text.trimEnd())
  }
  const gathered = await gatherSettings(program, environment)
  const problems = problemsOf(gathered)
  if (verb === 'check')
    return problems.length > 0 ? { lines: [], problems } : answer(summary(gathered, environment))
  const { shownLines, shownSettings } = await import('./shown-settings.ts')
  return answer(
    ...(isJson ? [json(shownSettings(program, gathered))] : shownLines(program, gathered)),
  )
}
