import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isUsualPassword } from './usual-passwords.ts'

void describe('a new password', () => {
  for (const usual of [
    ...['1234567890', '          ', '\0'.repeat(10), 'aaaaaaaaaa', 'abcabcabcabc', '0987654321'],
    ...[
      'password12',
      'Password123!',
      'P@ssw0rd2024',
      'passwordpassword',
      'iloveyou123',
      'ILoveYouForever',
    ],
    ...['qwertyuiop', 'qwerty12345', '1q2w3e4r5t', '1qaz2wsx3edc', 'asdfghjkl;', 'qwertz123456'],
    ...[
      'letmein2024',
      'welcome2025!',
      'sunshine123',
      'football2023',
      'administrator',
      'changeme123',
    ],
    ...[
      'monkey123456',
      'dragon12345',
      'Summer2026!',
      'Steward2026',
      'michael1234',
      'trustno1trustno1',
    ],
    ...[
      'ada@example.com',
      '11111111111',
      '123123123123',
      '12345678910',
      'abcdefghij',
      'abcd1234abcd',
    ],
    ...[
      'starwars1977',
      'superman123',
      'my password',
      'this is secret',
      '19901990199',
      '2000200020002',
    ],
  ])
    void it(`is not ${JSON.stringify(usual)}`, () => assert.ok(isUsualPassword(usual)))

  for (const rare of [
    ...['correct horse battery', 'another horse battery', 'x7$kq2!mLpz9', 'Gartenzaun-Wolke-17'],
    ...[
      'tr0mbone lagoon',
      'kaffee um halb vier',
      '9f86d081884c7d65',
      'passing the old bridge slowly',
    ],
    ...['ünïcödé wörter', '長い合言葉は安全です', 'a b c of unusual places', '4839201756384920'],
  ])
    void it(`may be ${JSON.stringify(rare)}`, () => assert.ok(!isUsualPassword(rare)))
})
