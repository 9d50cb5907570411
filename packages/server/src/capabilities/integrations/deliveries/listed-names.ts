/** Compares names of a publication with names of a delivery: without case, and by the ids of names that were seen before. */

/** Attack: other letters become ASCII letters in lower case, so that a stranger could have the name of somebody else. */
export const lowerCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

export const sameName = (one: string, other: string): boolean => lowerCase(one) === lowerCase(other)

export type KnownNames = Readonly<Record<string, string>> | undefined

/** `id`: what the provider calls the thing with the name, whatever name it has. */
type NameAndId = { name: string; id: string | undefined }

/**
 * The name in the list that means the named thing. A thing whose id is known under a listed name keeps that name when
 * it is renamed. Attack: a name that is free again may be taken by a stranger, so a name whose id is known means that id
 * alone.
 */
export function listedName(
  list: readonly string[],
  known: KnownNames,
  { name, id }: NameAndId,
): string | undefined {
  const knownId = (listed: string) => {
    const key = lowerCase(listed)
    return known && Object.hasOwn(known, key) ? known[key] : undefined
  }
  const byId = id === undefined ? undefined : list.find((each) => knownId(each) === id)
  if (byId !== undefined) return byId
  const byName = list.find((each) => sameName(each, name))
  if (byName === undefined || id === undefined) return byName
  return knownId(byName) === undefined ? byName : undefined
}

/** What is learned of a name in the list; undefined where its id is known or not said. */
export function learnedName(
  list: readonly string[],
  known: KnownNames,
  { name, id }: NameAndId,
): Readonly<Record<string, string>> | undefined {
  if (id === undefined || !list.some((each) => sameName(each, name))) return undefined
  const key = lowerCase(name)
  return known && Object.hasOwn(known, key) ? undefined : { [key]: id }
}
