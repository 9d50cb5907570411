/** The settings of a program: read from the environment, and written as `--help` and as tables in docs. */
import { nearestName } from '../nearest-name.ts'
import type { SettingSources } from './sources.ts'
import { locationBefore, noFiles } from './sources.ts'
import type { ProcessVariables, Setting, SettingsTree, SettingsValues } from './setting.ts'
import { isSetting, listSettings, secretFileName } from './setting.ts'

export type SettingsProgram<Tree extends SettingsTree> = {
  /** Completes "is not a setting of this …". */
  what: string
  settings: Tree
  /** What its settings file may hold, where several programs share one; else `settings`. */
  sharedFile?: SettingsTree
  /** The program refuses unknown names that begin with one of these, and ignores all other names. */
  prefixes: readonly string[]
}

function unusableNames(
  program: SettingsProgram<SettingsTree>,
  environment: ProcessVariables,
): string[] {
  const { what, settings, prefixes } = program
  const known = new Set(
    listSettings(settings).flatMap((setting) =>
      setting.secret ? [setting.name, secretFileName(setting)] : setting.name,
    ),
  )
  return Object.entries(environment).flatMap(([name, value]) => {
    if (!value || known.has(name)) return []
    if (!prefixes.some((prefix) => name.startsWith(prefix))) return []
    const near = nearestName(name, known)
    const hint = near === undefined ? '' : ` Do you mean ${near}?`
    return [`${name} is not a setting of this ${what}; --help lists them.${hint}`]
  })
}

/** Reads the values, or all problems. `environment`: the variables, and under their names what files give. */
export function readSettings<Tree extends SettingsTree>(
  program: SettingsProgram<Tree>,
  environment: ProcessVariables,
  sources: SettingSources = noFiles,
): { ok: true; values: SettingsValues<Tree> } | { ok: false; problems: string[] } {
  const problems = [...sources.problems, ...unusableNames(program, environment)]
  const read = (node: Setting<unknown> | SettingsTree): unknown => {
    if (!isSetting(node))
      return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, read(inner)]))
    if (sources.refused.has(node.name)) return undefined
    const reading = node.read(environment)
    if (reading.ok) return reading.value
    problems.push(locationBefore(sources, node.name) + reading.problem)
    return undefined
  }
  const values = read(program.settings)
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, values: values as SettingsValues<Tree> }
}

function sectionsOf(tree: SettingsTree): [title: string, settings: Setting<unknown>[]][] {
  return [...Map.groupBy(listSettings(tree), ({ section }) => section)]
}

const defaultOf = (setting: Setting<unknown>): string =>
  setting.required === undefined ? (setting.defaultAbout ?? setting.default ?? '') : 'must be set'

/** What a setting does, what its value may be and what holds without one: for comments in settings files. */
export function settingSentence(setting: Setting<unknown>): string {
  const usual = defaultOf(setting)
  const facts = [
    setting.form,
    ...(setting.required === undefined ? (usual ? [`default: ${usual}`] : []) : [usual]),
  ]
  return `${setting.about} (${facts.join('; ')})`.replaceAll('`', '')
}

/** The text of `--help`: a paragraph for each section. */
export function settingsHelp({ settings }: SettingsProgram<SettingsTree>): string {
  const all = listSettings(settings)
  const width = Math.max(...all.map(({ name }) => name.length)) + 2
  const line = (name: string, about: string, extra: string) =>
    `    ${name.padEnd(width)}${`${about}${extra && ` (${extra})`}`.replaceAll('`', '')}`
  const paragraphs = sectionsOf(settings).map(([title, members]) => [
    `  ${title}`,
    ...members.map((member) => line(member.name, member.about, defaultOf(member))),
  ])
  return paragraphs.map((lines) => lines.join('\n')).join('\n\n')
}

function row(setting: Setting<unknown>): string {
  const { name, about, more, form, secret } = setting
  const cells = [
    `\`${name}\``,
    defaultOf(setting) || '–',
    secret ? `${form}; *secret*` : form,
    more === undefined ? about : `${about}. ${more}`,
  ]
  return `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`
}

/** Markdown for docs: a table for each section. */
export function settingsTables({ settings }: SettingsProgram<SettingsTree>): string {
  const header = ['| name | default | value | meaning |', '|---|---|---|---|']
  const tables = sectionsOf(settings).map(([title, members]) =>
    [`**${title}**`, '', ...header, ...members.map(row)].join('\n'),
  )
  return tables.join('\n\n')
}
