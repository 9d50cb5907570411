import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { NewCardPage } from '../features/models/new-card-page.tsx'

export const Route = createFileRoute('/_app/models/new')({ component: NewCard })

function NewCard() {
  const navigate = useNavigate()
  return (
    <NewCardPage
      onCreated={({ id }) => void navigate({ to: '/models/$cardId', params: { cardId: id } })}
    />
  )
}
