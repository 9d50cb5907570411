import { createFileRoute } from '@tanstack/react-router'
import { Column } from '../components/layout.tsx'
import { FormFoot, FormHead } from '../components/form.tsx'
import { KeyForm } from '../features/account/key-form.tsx'
import { consolePath, signInUrl } from '../lib/place.ts'
import { words } from '../lib/words.ts'

export const Route = createFileRoute('/key')({ component: KeyPage })

function KeyPage() {
  return (
    <main>
      <Column>
        <FormHead title={words.key.title}>{words.key.hint}</FormHead>
        {/* Loaded anew: nothing of another key or person is left. */}
        <KeyForm onOpen={() => location.assign(consolePath)} />
        <FormFoot href={signInUrl()}>{words.key.signIn}</FormFoot>
      </Column>
    </main>
  )
}
