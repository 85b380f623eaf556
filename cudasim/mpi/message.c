/* The data of sends and receives, between processes. The contract is in link.h. */
#include <limits.h>
#include <stdlib.h>

#include "link.h"

/* Tags: a message's card from its sender, the card from its receiver, the data. Messages between
   two ranks do not overtake each other, so no number is needed. */
enum { FROM_SENDER = 1, FROM_RECEIVER, DATA };

/* One send or receive on its way: first both sides compare their calls, then the data go. */
typedef struct Message {
    const QueuedCall *queued;
    Card mine, theirs;
    MPI_Request requests[2];
    bool compared, over;
} Message;

static void begin(Message *message, const QueuedCall *queued) {
    const CollectiveCall *call = &queued->call;
    MPI_Comm link = ((Link *)queued->comm->link)->device;
    bool send = call->kind == COLLECTIVE_SEND;
    *message = (Message){.queued = queued, .mine = card_of(call)};
    MPI_Irecv(&message->theirs, sizeof message->theirs, MPI_BYTE, call->peer,
              send ? FROM_RECEIVER : FROM_SENDER, link, &message->requests[0]);
    MPI_Isend(&message->mine, sizeof message->mine, MPI_BYTE, call->peer,
              send ? FROM_SENDER : FROM_RECEIVER, link, &message->requests[1]);
}

/* Both sides have the two calls; the one that sends tells what does not match. */
static void compare(Message *message) {
    const CollectiveCall *mine = &message->queued->call, *theirs = &message->theirs.call;
    bool send = mine->kind == COLLECTIVE_SEND;
    card_open(&message->theirs);
    const CollectiveCall *calls[] = {send ? mine : theirs, send ? theirs : mine};
    link_compare(calls, 2, send);
}

static void move(Message *message) {
    const CollectiveCall *call = &message->queued->call;
    MPI_Comm link = ((Link *)message->queued->comm->link)->device;
    MPI_Datatype element = link_element(collective_type_bytes(call->type));
    char text[COLLECTIVE_TEXT];
    if (call->count > INT_MAX) {
        collective_describe(call, text);
        sim_report("unsupported", "%s: over MPI a message has at most 2^31 - 1 elements", text);
        sim_stop();
    }
    if (call->kind == COLLECTIVE_SEND) {
        MPI_Isend(call->in, (int)call->count, element, call->peer, DATA, link,
                  &message->requests[0]);
    } else {
        MPI_Irecv(call->out, (int)call->count, element, call->peer, DATA, link,
                  &message->requests[0]);
    }
}

/* Whether the message is over; what can be done now is done. */
static bool advance(Message *message) {
    int done = message->over;
    if (!done) {
        MPI_Testall(2, message->requests, &done, MPI_STATUSES_IGNORE);
    }
    if (done && !message->compared) {
        compare(message);
        move(message);
        message->compared = true;
        done = false;
    }
    message->over = done;
    return done;
}

static _Noreturn void give_up(const Message *messages, int count) {
    char text[COLLECTIVE_TEXT], whom[32];
    const CollectiveCall *call = &messages[0].queued->call;
    for (int i = count - 1; i >= 0; i--) {
        call = messages[i].over ? call : &messages[i].queued->call;
    }
    collective_describe(call, text);
    snprintf(whom, sizeof whom, "rank %d", call->peer);
    patience_ends(call->rank, text, whom);
}

void link_messages(QueuedCall *const calls[], int count) {
    int messages_of = 0, over = 0;
    Message *messages = sim_realloc(NULL, (size_t)count * sizeof *messages);
    for (int i = 0; i < count; i++) {
        CollectiveKind kind = calls[i]->call.kind;
        if (kind == COLLECTIVE_SEND || kind == COLLECTIVE_RECV) {
            begin(&messages[messages_of++], calls[i]);
        }
    }
    Patience patience = {0};
    while (over < messages_of) {
        over = 0;
        for (int i = 0; i < messages_of; i++) {
            over += advance(&messages[i]);
        }
        if (over < messages_of && !patience_lasts(&patience)) {
            give_up(messages, messages_of);
        }
    }
    free(messages);
}
