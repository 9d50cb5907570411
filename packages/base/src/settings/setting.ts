/**
 * A setting, declared once: the configuration's type, the reader, `--help` and the tables in docs come from the
 * declaration.
 */

export type ProcessVariables = Readonly<Record<string, string | undefined>>

export type SettingSchema = Readonly<Record<string, unknown>>

/**
 * What a settings file may hold in place of the text of the variable. `list`: texts, which the variable separates by
 * commas. `map`: texts by names, of which the variable makes a list with `between` in each part. `json`: what the
 * variable holds as JSON.
 */
export type FileForm =
  | { type: 'text'; schema: SettingSchema }
  | { type: 'list'; schema?: SettingSchema }
  | { type: 'map'; between: '=' | ':' }
  | { type: 'json'; schema: () => SettingSchema }

/** The texts that a setting accepts. */
export type SettingKind<T> = {
  /** Completes "is not …". */
  form: string
  /** Undefined refuses the text with `form`; an error refuses the text with the error's message. */
  parse: (text: string) => T | undefined
  /** Without it, a settings file holds a text. */
  inFile?: FileForm
  /** A value for the example of a settings file, in YAML. */
  example?: string
  /** For hidden settings: what may be shown of a text that `parse` accepts. Without it, nothing. */
  shown?: (text: string) => string
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
  /** SECRET: the value is hidden, and may be given in a file of its own, which `NAME_FILE` names. */
  secret?: boolean
  /** A value for the example of a settings file, in YAML, in place of the one of the kind. */
  example?: string
  /** Further names of the variable, which hold where the variable itself is not set. */
  aliases?: readonly string[]
}

type SettingReading<T> = { ok: true; value: T } | { ok: false; problem: string }

export type Setting<T> = SettingDescription &
  Pick<SettingKind<T>, 'form' | 'inFile' | 'shown'> & {
    name: string
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
  { form, parse, ...kind }: SettingKind<T>,
  description: SettingDescription,
): Setting<T | undefined> {
  const { default: fallback, required, secret = false } = description
  // What a kind shows only in part may hold a secret: a URL has a password.
  const { hidden = secret || kind.shown !== undefined } = description
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
  return { ...kind, ...description, hidden, name, form, section: '', read }
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

/** The key of a setting in a settings file. */
export const fileKey = ({ name }: { name: string }): string => name.toLowerCase()

/** The variable that names a file with the value of a secret. */
export const secretFileName = ({ name }: { name: string }): string => `${name}_FILE`
export const secretFileKey = (setting: { name: string }): string =>
  secretFileName(setting).toLowerCase()
