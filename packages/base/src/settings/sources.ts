/** What is given for the settings of a program, and where each value comes from. */
import type { ProcessVariables } from './setting.ts'

/** Where a value comes from; without one, it is the default. */
export type SettingOrigin = {
  kind: 'variable' | 'settings_file' | 'secret_file'
  /** The variable, or the file, with the line where it is the settings file. */
  location: string
}

export type SettingOrigins = ReadonlyMap<string, SettingOrigin>

export type GatheredSettings = {
  /** The variables of the process, and under the names of variables what files give. SECRET: never logged. */
  variables: ProcessVariables
  origins: SettingOrigins
  problems: readonly string[]
  /** The settings that `problems` name: what is given for them cannot be read. */
  refused: ReadonlySet<string>
}

/** Where values of files come from, and what is wrong with the files. */
export type SettingSources = Omit<GatheredSettings, 'variables'>

/** Variables alone. */
export const noFiles: SettingSources = { origins: new Map(), problems: [], refused: new Set() }

/** What a problem of a setting begins with: the location in a file that gives its value. */
export function locationBefore({ origins }: SettingSources, name: string): string {
  const origin = origins.get(name)
  return origin === undefined || origin.kind === 'variable' ? '' : `${origin.location}: `
}
