/**
 * Gathers what is given for the settings of a program: by variables, by the files that hold one secret each, and by the
 * settings file. A variable wins over the file.
 */
import { readBoundedText } from './bounded-file.ts'
import type { SettingsProgram } from './program.ts'
import type { GatheredSettings, SettingOrigin } from './sources.ts'
import type { ProcessVariables, Setting, SettingsTree } from './setting.ts'
import { listSettings, secretFileName } from './setting.ts'
import type { SettingsFile } from './settings-file.ts'

/** The variable that names the settings file. No file is read that nobody names. */
export const settingsFileVariable = 'SETTINGS_FILE'

const mostSecretBytes = 65_536

/** What is given for a setting, or where. */
type SettingSource =
  | { text: string; origin: SettingOrigin }
  /** Where `path` is named, for messages. */
  | { path: string; namedBy: string }
  | { problem: string }

/** What variables give for a setting. */
function givenByVariables(
  { name, aliases = [], secret = false }: Setting<unknown>,
  environment: ProcessVariables,
): SettingSource | undefined {
  const location = [name, ...aliases].find((each) => environment[each])
  const text = location && environment[location]
  const fileName = secretFileName({ name })
  const path = secret ? environment[fileName] : undefined
  if (text && path)
    return { problem: `${location} and ${fileName} are both set: keep one of the two` }
  if (text) return { text, origin: { kind: 'variable', location } }
  return path ? { path, namedBy: fileName } : undefined
}

function givenByFile(file: SettingsFile, name: string): SettingSource | undefined {
  const entry = file.entries.find(({ setting }) => setting.name === name)
  if (!entry) return undefined
  const { key, location, value } = entry
  return 'text' in value
    ? { text: value.text, origin: { kind: 'settings_file', location } }
    : { path: value.path, namedBy: `${location}: ${key}` }
}

/** Takes one line end from the end of the file: editors and `echo` write one. */
async function readSecret(path: string, namedBy: string): Promise<SettingSource> {
  const content = await readBoundedText(path, mostSecretBytes)
  if ('why' in content) return { problem: `${namedBy}: ${path} cannot be read: ${content.why}` }
  const text = content.text.replace(/\r?\n$/, '')
  return text === ''
    ? { problem: `${namedBy}: ${path} is empty: write the secret into it` }
    : { text, origin: { kind: 'secret_file', location: path } }
}

async function readFileOf(
  path: string | undefined,
  settings: readonly Setting<unknown>[],
): Promise<SettingsFile> {
  if (!path) return { entries: [], problems: [], refused: new Set(), isWhole: true }
  const { readSettingsFile } = await import('./settings-file.ts')
  return readSettingsFile(path, settings)
}

export async function gatherSettings(
  { settings, sharedFile = settings }: SettingsProgram<SettingsTree>,
  environment: ProcessVariables,
): Promise<GatheredSettings> {
  const file = await readFileOf(environment[settingsFileVariable], listSettings(sharedFile))
  const variables: Record<string, string | undefined> = { ...environment }
  const origins = new Map<string, SettingOrigin>()
  const problems = [...file.problems]
  const refused = new Set(file.refused)
  for (const setting of listSettings(settings)) {
    const { name } = setting
    let given = givenByVariables(setting, environment)
    if (given) refused.delete(name)
    given ??= givenByFile(file, name)
    if (given && 'path' in given) given = await readSecret(given.path, given.namedBy)
    if (given && 'text' in given) {
      variables[name] = given.text
      origins.set(name, given.origin)
    } else if (given && 'problem' in given) {
      problems.push(given.problem)
      refused.add(name)
    } else if (!file.isWhole) refused.add(name)
  }
  return { variables, origins, problems, refused }
}
