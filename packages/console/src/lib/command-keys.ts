/** Which command the keys mean that somebody presses. */
/** Returns the command for a key, after another one that was just pressed. */
type KeyedCommand = { keys?: string | undefined }

export function commandFor<Of extends KeyedCommand>(
  all: readonly Of[],
  key: string,
  before: string | undefined,
): { command: Of | undefined; isBegun: boolean } {
  const of = (keys: string) => all.findLast((each) => each.keys === keys)
  const command = (before === undefined ? undefined : of(`${before} ${key}`)) ?? of(key)
  return { command, isBegun: all.some(({ keys }) => keys?.startsWith(`${key} `) ?? false) }
}
