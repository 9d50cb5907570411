/**
 * A setting, declared once: the configuration's type, the reader, `--help` and the tables in docs come from the
 * declaration.
 */

export type ProcessVariables = Readonly<Record<string, string | undefined>>

/** The texts that a setting accepts. */
export type SettingKind<T> = {
  /** Completes "is not …". */
  form: string
  /** Undefined refuses the text with `form`; an error refuses the text with the error's message. */
  parse: (text: string) => T | undefined
}

type SettingDescription = {
  /** One sentence, for `--help` and docs. */
  about: string
  /** Further Markdown, for docs alone. */
  more?: string
  /** Read like a given text. */
  default?: string
  /** For docs, where the configuration computes the default. */
  defaultAbout?: string
  /** Why the program needs a value and how to make one; the program refuses to start without. */
  required?: string
  /** SECRET: refusals hide the given text, which may hold a password or a key. */
  hidden?: boolean
}

type SettingReading<T> = { ok: true; value: T } | { ok: false; problem: string }

export type Setting<T> = SettingDescription & {
  name: string
  form: string
  /** Title of its group in `--help` and docs. */
  section: string
  read: (environment: ProcessVariables) => SettingReading<T>
}

/** Settings in the shape of their configuration. */
export type SettingsTree = { readonly [key: string]: Setting<unknown> | SettingsTree }

export type SettingsValues<Tree> = {
  -readonly [Key in keyof Tree]: Tree[Key] extends {
    read: (environment: ProcessVariables) => SettingReading<infer T>
  }
    ? T
    : SettingsValues<Tree[Key]>
}

function refusal(name: string, text: string, { form, hidden }: { form: string; hidden: boolean }) {
  return `${name}: ${hidden ? '"…"' : JSON.stringify(text)} is not ${form}`
}

export function setting<T>(
  name: string,
  kind: SettingKind<T>,
  description: SettingDescription & ({ default: string } | { required: string }),
): Setting<T>
export function setting<T>(
  name: string,
  kind: SettingKind<T>,
  description: SettingDescription,
): Setting<T | undefined>
export function setting<T>(
  name: string,
  { form, parse }: SettingKind<T>,
  description: SettingDescription,
): Setting<T | undefined> {
  const { default: fallback, required, hidden = false } = description
  function read(environment: ProcessVariables): SettingReading<T | undefined> {
    const text = environment[name] || fallback
    if (text === undefined)
      return required === undefined
        ? { ok: true, value: undefined }
        : { ok: false, problem: `${name} is missing: ${required}` }
    try {
      const value = parse(text)
      if (value !== undefined) return { ok: true, value }
      return { ok: false, problem: refusal(name, text, { form, hidden }) }
    } catch (error) {
      return { ok: false, problem: `${name}: ${(error as Error).message}` }
    }
  }
  return { ...description, name, form, section: '', read }
}

export const isSetting = (node: Setting<unknown> | SettingsTree): node is Setting<unknown> =>
  typeof node['read'] === 'function'

/** Puts all settings of the tree into one group. */
export function settingsSection<Tree extends SettingsTree>(title: string, tree: Tree): Tree {
  const titled = (node: Setting<unknown> | SettingsTree): unknown =>
    isSetting(node)
      ? { ...node, section: title }
      : Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, titled(inner)]))
  return titled(tree) as Tree
}

/** The settings of a tree, in the order of their declaration. */
export const listSettings = (tree: SettingsTree): Setting<unknown>[] =>
  Object.values(tree).flatMap((node) => (isSetting(node) ? [node] : listSettings(node)))
