/**
 * @file events.h
 * @brief The events of the simulator of queues, in the order of time.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_EVENTS_H
#define CUDASIM_CLOCK_EVENTS_H

/** The kinds of events. At one time, what is over comes before what begins. */
typedef enum Happening {
    KERNELS_OVER, /**< some kernel of a device */
    COPY_OVER,    /**< a copy over the bus */
    MEETING_OVER, /**< a collective, a message */
    READY,        /**< an entry may begin */
} Happening;

/** Something that happens at a time. */
typedef struct Event {
    double time;    /**< when [s] */
    Happening what; /**< what */
    int index;      /**< of the device, the entry or the meeting */
    unsigned plan;  /**< of KERNELS_OVER: see Engine */
} Event;

/** The events that are still to come: a heap. */
typedef struct Events {
    Event *event; /**< (count) owned; each before its children, at 2 i + 1 and 2 i + 2 */
    int count;    /**< how many */
    int room;     /**< of event */
} Events;

/** One more. */
void events_add(Events *events, double time, Happening what, int index, unsigned plan);

/** Takes the first out; of those at one time the order is that of Happening, then of index. */
Event events_next(Events *events);

#endif
