/** The pages of the settings, as they stand in their list. */
import { tabKey } from './tab.ts'
import { words } from './words.ts'

const paths = [
  '/settings/workspace',
  '/settings/members',
  '/settings/keys',
  '/settings/limits',
  '/settings/me',
] as const
export type SettingsPath = (typeof paths)[number]

/** Everybody in a workspace reads its settings. Sign-ins are a person's: a key has none. */
export const openSettingsPages = (): readonly SettingsPath[] =>
  paths.filter((path) => path !== '/settings/me' || tabKey() === undefined)

export const settingsNames: Record<SettingsPath, string> = {
  '/settings/workspace': words.settings.workspace,
  '/settings/members': words.settings.members,
  '/settings/keys': words.settings.keys,
  '/settings/limits': words.settings.limits,
  '/settings/me': words.settings.me,
}
