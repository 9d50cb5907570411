import { createFileRoute, useNavigate } from '@tanstack/react-router'
import { CardPage } from '../features/models/card-page.tsx'
import { cardQuery } from '../features/models/models.ts'

export const Route = createFileRoute('/_app/models/$cardId')({
  // Not awaited: the card is asked for while its page is loaded.
  loader: ({ context, params }) => void context.queryClient.prefetchQuery(cardQuery(params.cardId)),
  component: OneCard,
})

function OneCard() {
  const { cardId } = Route.useParams()
  const navigate = useNavigate()
  return <CardPage key={cardId} id={cardId} onGone={() => void navigate({ to: '/models' })} />
}
