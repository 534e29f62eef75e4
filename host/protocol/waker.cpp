#include "host/protocol/waker.h"

#include <cerrno>

namespace glmhost::protocol {

Waker::Waker(zmq::context_t& context)
    : receiver_(context, zmq::socket_type::pull), sender_(context, zmq::socket_type::push) {
  for (zmq::socket_t* socket : {&receiver_, &sender_}) {
    socket->set(zmq::sockopt::linger, 0);
    // At most one message is in flight, but libzmq learns late that it was read.
    socket->set(zmq::sockopt::sndhwm, 0);
    socket->set(zmq::sockopt::rcvhwm, 0);
  }
  receiver_.bind("inproc://waker");
  sender_.connect("inproc://waker");
}

void Waker::wake() {
  if (woken_.exchange(true)) return;
  const std::lock_guard lock(mutex_);
  while (zmq_send(sender_.handle(), nullptr, 0, ZMQ_DONTWAIT) < 0 && zmq_errno() == EINTR) {
  }
}

bool Waker::clear() {
  bool woken = false;
  while (zmq_recv(receiver_.handle(), nullptr, 0, ZMQ_DONTWAIT) >= 0) woken = true;
  // Only after the message is gone: a wake() from here on sends another one.
  if (woken) woken_ = false;
  return woken;
}

}  // namespace glmhost::protocol
