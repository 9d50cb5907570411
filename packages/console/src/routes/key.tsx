import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { Column } from '../components/layout.tsx'
import { FormFoot, FormHead } from '../components/form.tsx'
import { KeyForm } from '../features/account/key-form.tsx'
import { signInUrl } from '../lib/place.ts'
import { words } from '../lib/words.ts'

export const Route = createFileRoute('/key')({ component: KeyPage })

function KeyPage() {
  const navigate = useNavigate()
  return (
    <main>
      <Column>
        <FormHead title={words.key.title}>{words.key.hint}</FormHead>
        <KeyForm onOpen={() => void navigate({ to: '/' })} />
        <FormFoot href={signInUrl()}>{words.key.signIn}</FormFoot>
      </Column>
    </main>
  )
}
