/**
 * Refuses passwords that are guessed first. Lists of passwords that leaked are variations of few words, so the words are
 * kept and the variations are undone: letters that are written as digits, decoration, repetition, rows of a keyboard.
 */
import { invalid } from '../../../ground/core/errors.ts'

/** Words of which usual passwords are made, in lower case. */
const words = [
  'password passwort passwords passwd passphrase pass motdepasse contrasena senha parola heslo wachtwoord haslo sifre',
  'secret geheim default changeme change admin administrator root user username login logon signin welcome willkommen',
  'bienvenue hello hallo hola bonjour letmein open opensesame sesame enter access master test testing tester demo temp',
  'temporary guest public private system server computer internet windows microsoft google facebook linkedin apple',
  'samsung android steward agent agents qwerty qwertz azerty asdf zxcv iloveyou loveyou iloveu love lovely lover forever',
  'baby babygirl babyboy angel princess prince queen king sunshine moonlight flower butterfly dragon monkey tiger lion',
  'panther eagle wolf shadow ninja samurai pirate hunter killer warrior ranger soldier superman batman spiderman',
  'ironman pokemon pikachu naruto minecraft starwars football fussball soccer baseball basketball hockey tennis golf',
  'cricket liverpool arsenal chelsea manchester united barcelona realmadrid juventus bayern yankees cowboys lakers',
  'michael jordan jessica jennifer michelle ashley nicole daniel thomas andrew anthony charlie robert joshua matthew',
  'william alexander christian david maria anna laura sarah jesus christ god heaven blessed faith freedom america',
  'england germany deutschland france india london berlin paris newyork summer sommer winter spring fruehling autumn',
  'herbst monday montag friday freitag january january february march april june july august september october',
  'november december januar dezember trustno one trustnoone fuckyou fuck asshole bitch whatever nothing blahblah',
  'cheese chocolate cookie banana orange cherry strawberry pepper ginger coffee pizza whisky silver golden diamond',
  'purple yellow black white green blue red mustang ferrari porsche mercedes corvette harley yamaha honda toyota',
  'matrix phoenix thunder lightning hammer rocket galaxy player gamer music guitar rockstar metallica nirvana slipknot',
  'my me you your the i a the this is is it in on no not for to and of new old big super ultra mega best first last',
  'abc abcd abcde abcdef xyz company firma office work job home house family friend friends mother father mama papa',
  'school student teacher university doctor lucky happy smile beautiful pretty sweet sexy cool hot crazy good bad',
]
  .join(' ')
  .split(' ')

const known = new Set(words)
const longest = Math.max(...words.map(({ length }) => length))

/** Pairs of a sign and the letter for which people write it. */
const disguises = '0o 1i 3e 4a 5s 7t 8b 9g @a $s !i |l +t'.split(' ')
const letters = new Map(disguises.map((pair) => [pair.slice(0, 1), pair.slice(1)]))

/** Rows of keyboards, the alphabet and the digits. */
const rows = [
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  ...['qwertyuiop', 'asdfghjkl', 'zxcvbnm', 'qwertzuiop', 'yxcvbnm', 'azertyuiop', 'qsdfghjklm'],
  ...['1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p', 'q1w2e3r4t5y6u7i8o9p0', '1q2w3e4r5t6z7u8i9o0p'],
  ...['1q2w3e4r5t6y7u8i9o0p', '147258369', '741852963'],
]
const runs = [...rows, ...rows.map((row) => row.split('').toReversed().join(''))].map((row) =>
  row.repeat(2),
)

/** True for a text of which each part of at least 3 characters runs along a row. */
function isRuns(text: string): boolean {
  for (let from = 0; from < text.length;) {
    let to = from + 3
    if (!isRun(text.slice(from, to)) || to > text.length) return false
    while (to < text.length && isRun(text.slice(from, to + 1))) to++
    // The rest may begin within this run: `1234512345` has two.
    from = text.length - to < 3 && text.length !== to ? text.length : to
  }
  return text !== ''
}
const isRun = (text: string) => runs.some((row) => row.includes(text))

/** True for a text that is nothing but known words, at most three of them or one again and again. */
function isWords(text: string, left = 3): boolean {
  if (text === '') return true
  if (left === 0) return false
  for (let length = Math.min(longest, text.length); length > 0; length--)
    if (known.has(text.slice(0, length)) && isWords(text.slice(length), left - 1)) return true
  return false
}

const isRepeated = (text: string) => /^(.{1,5}?)\1+.{0,4}$/su.test(text)

/** The text without what people put before and behind a word: digits and signs. */
const withoutDecoration = (text: string): string =>
  text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '').replaceAll(/[\s._-]+/g, '')

const asLetters = (text: string): string =>
  Array.from(text, (character) => letters.get(character) ?? character).join('')

export function isUsualPassword(password: string): boolean {
  const text = password.normalize('NFKC').toLowerCase()
  const dense = text.replaceAll(/[\s\p{Cc}._-]+/gu, '')
  if (dense === '' || isRepeated(text) || isRepeated(dense) || isRuns(dense)) return true
  if (/^[^\p{L}]{1,12}$/u.test(dense)) return true
  if (/^[^@\s]+@[^@\s]+\.[a-z]{2,}$/.test(text)) return true
  const core = withoutDecoration(text)
  const cores = [core, withoutDecoration(asLetters(text)), asLetters(core)]
  return cores.some((each) => (each !== '' && isWords(each)) || (each.length >= 4 && isRuns(each)))
}

export function checkNewPassword(password: string): void {
  if (isUsualPassword(password))
    throw invalid(
      'password: is one of the first that a stranger would try: take some words that do not belong together',
    )
}
