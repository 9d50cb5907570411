/** A settings file with every setting, as a comment that says what the setting does. */
import { stringify } from 'yaml'
import { settingsFileVariable } from './gather.ts'
import type { SettingsProgram } from './program.ts'
import { settingSentence } from './program.ts'
import type { Setting, SettingsTree } from './setting.ts'
import { fileKey, listSettings, secretFileKey } from './setting.ts'

const width = 110

/** Breaks a text into lines of a comment. */
function commented(text: string): string[] {
  const lines = ['#']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line.length + word.length < width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(`# ${word}`)
  }
  return lines
}

/** The key and a value: the default where there is one. The file of a secret stands for the secret. */
function exampleLine(setting: Setting<unknown>, folder: string): string {
  if (setting.secret) return `#${secretFileKey(setting)}: ${folder}/${fileKey(setting)}`
  const { default: usual, example = '' } = setting
  const isText = setting.inFile === undefined
  const value = usual ? (isText ? stringify(usual, { lineWidth: 0 }).trim() : usual) : example
  return `#${fileKey(setting)}: ${value}`.trimEnd()
}

function entryOf(setting: Setting<unknown>, folder: string): string {
  return [...commented(settingSentence(setting)), exampleLine(setting, folder)].join('\n')
}

/** `schema`: the file of the schema, as editors find it from the example. */
export function settingsExample(
  { what, settings }: SettingsProgram<SettingsTree>,
  { schema, checkCommand }: { schema: string; checkCommand: string },
): string {
  const head = [
    `# yaml-language-server: $schema=${schema}`,
    `# Settings of the ${what}: the variable ${settingsFileVariable} names this file. Remove the # before the settings that you give.`,
    '# A variable wins over this file. A secret stands in a file of its own, or here by its name without _file.',
    `# ${checkCommand} says whether the settings can be read.`,
  ].join('\n')
  const sections = [...Map.groupBy(listSettings(settings), ({ section }) => section)]
  const parts = sections.map(([title, members]) =>
    [`# --- ${title} ---`, ...members.map((each) => entryOf(each, '/etc/steward/secrets'))].join(
      '\n\n',
    ),
  )
  return `${[head, ...parts].join('\n\n')}\n`
}
