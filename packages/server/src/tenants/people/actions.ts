/** Sign-in and sign-out, for routes and pages alike. */
import { forbidden, PlatformError } from '../../ground/core/errors.ts'
import type { SignIn } from './authenticate.ts'
import type { Visitor } from './library/library.ts'
import type { People } from './people.ts'
import { peopleStore } from './store.ts'
import { notifyOfPeople } from './authenticate.ts'

/** Runs a sign-in and notes its refusal for the audit. */
async function noteFailure<T>(
  { failures }: People,
  email: string,
  { address }: Visitor,
  signIn: () => Promise<T>,
): Promise<T> {
  try {
    return await signIn()
  } catch (error) {
    if (error instanceof PlatformError) failures.note({ address, email: email.toLowerCase() })
    throw error
  }
}

/** Throws where people sign in by identity providers alone. */
export function checkOwnWays({ isByProvidersAlone }: Pick<People, 'isByProvidersAlone'>): void {
  if (!isByProvidersAlone) return
  throw forbidden(
    'this server signs people in by its identity provider alone: open /signin',
    'provider_only',
  )
}

export async function signInByPassword(
  people: People,
  given: { email: string; password: string },
  visitor: Visitor,
): Promise<string> {
  checkOwnWays(people)
  await people.admit('sign_in', visitor.address)
  await people.admitPassword(given.email.toLowerCase(), visitor)
  const library = await people.library()
  return noteFailure(people, given.email, visitor, () => library.byPassword(given, visitor))
}

/** The library may end other sign-ins of the person, from before the address was proved. */
export async function signInByCode(
  people: People,
  given: { email: string; code: string },
  visitor: Visitor,
): Promise<string> {
  checkOwnWays(people)
  await people.admit('sign_in', visitor.address)
  const library = await people.library()
  const token = await noteFailure(people, given.email, visitor, () =>
    library.byCode(given, visitor),
  )
  people.announce()
  return token
}

/** Counts known and unknown addresses alike, so that a refusal does not reveal who is known. */
async function admitMail(people: People, email: string, visitor: Visitor): Promise<void> {
  await people.admit('mail', visitor.address)
  await people.admitLetter(email.toLowerCase(), visitor)
}

export async function requestCode(people: People, email: string, visitor: Visitor): Promise<void> {
  checkOwnWays(people)
  await admitMail(people, email, visitor)
  people.later('a code', async () => (await people.library()).requestCode(email))
}

export async function requestReset(people: People, email: string, visitor: Visitor): Promise<void> {
  checkOwnWays(people)
  await admitMail(people, email, visitor)
  people.later('a link', async () => (await people.library()).requestReset(email))
}

/** True while the link with this token sets a password, once. */
export const mayReset = async (people: People, token: string): Promise<boolean> =>
  (await people.library()).mayReset(token)

export async function resetPassword(
  people: People,
  { token, password }: { token: string; password: string },
  visitor: Visitor,
): Promise<void> {
  checkOwnWays(people)
  await people.admit('sign_in', visitor.address)
  await (await people.library()).reset(token, password, visitor)
  people.announce()
}

export async function chooseWorkspace(people: People, signIn: SignIn, id: string): Promise<void> {
  if (!signIn.workspaces.some((each) => each.id === id))
    throw forbidden('workspace_id: you are not a member of this workspace', 'not_a_member')
  await people.databases.control.write(async (tx) => {
    await peopleStore(tx).chooseWorkspace(signIn.id, id)
    notifyOfPeople(tx)
  })
}

/** Returns how many sign-ins of the person have ended. */
export async function endSignIns(
  people: People,
  person: string,
  which: { only?: string; except?: string },
): Promise<number> {
  const { control } = people.databases
  return control.write(async (tx) => {
    notifyOfPeople(tx)
    return (await peopleStore(tx).endSignIns(person, which)).length
  })
}
