/** What a tab keeps for itself until it is closed: a key, and the workspace that it shows. */
const keyName = 'steward.key'
const workspaceName = 'steward.workspace'

function read(name: string): string | undefined {
  try {
    return sessionStorage.getItem(name) ?? undefined
  } catch {
    return undefined
  }
}

function write(name: string, value: string | undefined): void {
  try {
    if (value === undefined) sessionStorage.removeItem(name)
    else sessionStorage.setItem(name, value)
  } catch {
    // A browser without storage forgets it with the page.
  }
}

/** SECRET: never logged, never in the address. */
export const tabKey = (): string | undefined => read(keyName)
export const keepTabKey = (key: string | undefined): void => write(keyName, key)

export const tabWorkspace = (): string | undefined => read(workspaceName)
export const keepTabWorkspace = (id: string | undefined): void => write(workspaceName, id)
