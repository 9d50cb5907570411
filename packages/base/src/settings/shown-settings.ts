/** What a person may see of the settings of a program: their values, without secrets, and where each comes from. */
import { maskedText } from './mask-url.ts'
import type { SettingsProgram } from './program.ts'
import type { ProcessVariables, Setting, SettingsTree } from './setting.ts'
import { fileKey, listSettings } from './setting.ts'
import type { GatheredSettings, SettingOrigin } from './sources.ts'

type ShownSetting = {
  name: string
  /** The key of a settings file. */
  key: string
  /** Null: no value is given, and there is no default that does not depend on others. */
  value: string | null
  /** True: the value is longer than what is shown of it. */
  masked: boolean
  /** `unreadable`: a file is named that does not give the value. */
  source: SettingOrigin['kind'] | 'default' | 'unreadable'
  /** The variable or the file. */
  location: string | null
}

/** A text that the setting refuses could be a secret that belongs to another one, and is hidden whole. */
function shownText(setting: Setting<unknown>, text: string, environment: ProcessVariables): string {
  if (!setting.hidden) return text
  return setting.shown && setting.read(environment).ok ? setting.shown(text) : maskedText
}

export const shownSettings = (
  { settings }: SettingsProgram<SettingsTree>,
  { variables, origins, refused }: GatheredSettings,
): ShownSetting[] =>
  listSettings(settings).map((setting) => {
    const origin = origins.get(setting.name)
    const text = variables[setting.name]
    const named = { name: setting.name, key: fileKey(setting) }
    if (refused.has(setting.name))
      return { ...named, value: null, masked: false, source: 'unreadable', location: null }
    if (!origin || text === undefined)
      return {
        ...named,
        value: setting.default || null,
        masked: false,
        source: 'default',
        location: null,
      }
    const value = shownText(setting, text, variables)
    return {
      ...named,
      value,
      masked: value !== text,
      source: origin.kind,
      location: origin.location,
    }
  })

/** Lines of three columns: the name, the value, and where it comes from. */
export function shownLines(
  program: SettingsProgram<SettingsTree>,
  gathered: GatheredSettings,
): string[] {
  const defaults = new Map(
    listSettings(program.settings).map(({ name, defaultAbout }) => [name, defaultAbout]),
  )
  const absent = ({ name, source }: ShownSetting) =>
    (source === 'default' && defaults.get(name)?.replaceAll('`', '')) || '–'
  const rows = shownSettings(program, gathered).map((shown) => [
    shown.name,
    shown.value === null ? absent(shown) : oneLine(shown.value),
    shown.location ?? shown.source,
  ])
  const [names, values] = [0, 1].map((column) =>
    Math.max(...rows.map((row) => Math.min(row[column]?.length ?? 0, widest))),
  )
  return rows.map(([name = '', value = '', location = '']) =>
    [name.padEnd(names ?? 0), value.padEnd(values ?? 0), location].join('  '),
  )
}

const widest = 48

/** Attack: a value with control characters changes what a terminal shows. */
const oneLine = (text: string): string =>
  /[\p{Cc}\p{Cf}]/u.test(text) ? JSON.stringify(text).replaceAll(/[\p{Cc}\p{Cf}]/gu, '�') : text
