// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// What the headers of a Fast DDS say about its objects. Compiled to assembly and read there, with
// access control off: a program would have to be linked to all that the wheels' libraries need.
#include <cstddef>
#ifdef FASTDDS_2
#include <fastdds/rtps/common/CacheChange.h>
#include <fastdds/rtps/common/Locator.h>
#include <fastdds/rtps/common/SerializedPayload.h>
#include <fastdds/rtps/common/WriteParams.h>
#else
#include <fastdds/rtps/common/CacheChange.hpp>
#include <fastdds/rtps/common/Locator.hpp>
#include <fastdds/rtps/common/SerializedPayload.hpp>
#include <fastdds/rtps/common/WriteParams.hpp>
#include <fastdds/rtps/transport/NetworkBuffer.hpp>
#endif
#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <rmw_fastrtps_shared_cpp/TypeSupport.hpp>
#include <type_traits>

#ifdef FASTDDS_2
namespace rtps = eprosima::fastrtps::rtps;
using Duration = eprosima::fastrtps::Duration_t;
using Code = eprosima::fastrtps::types::ReturnCode_t;
#else
namespace rtps = eprosima::fastdds::rtps;
using Duration = eprosima::fastdds::dds::Duration_t;
using Code = eprosima::fastdds::dds::ReturnCode_t;
#endif
namespace fast = eprosima::fastdds::dds;

#define OFFSET(name, type, member) extern "C" const unsigned long name = offsetof(type, member)
#define NUMBER(name, value) extern "C" const unsigned long name = value

OFFSET(change_guid, rtps::CacheChange_t, writerGUID);
OFFSET(change_sequence, rtps::CacheChange_t, sequenceNumber);
OFFSET(change_size, rtps::CacheChange_t, serializedPayload.length);
OFFSET(change_stamp, rtps::CacheChange_t, sourceTimestamp);
OFFSET(info_stamp, fast::SampleInfo, source_timestamp);
OFFSET(info_identity, fast::SampleInfo, sample_identity);
OFFSET(info_related, fast::SampleInfo, related_sample_identity);
OFFSET(params_related, rtps::WriteParams, related_sample_identity_);
OFFSET(topic_name, fast::TopicDescription, name_);
OFFSET(topic_type, fast::TopicDescription, type_name_);
NUMBER(topic_description, reinterpret_cast<unsigned long>(static_cast<fast::TopicDescription*>(
                              reinterpret_cast<fast::Topic*>(0x10000))) -
                              0x10000);

OFFSET(COLLECTION_LENGTH, fast::LoanableCollection, length_);
OFFSET(COLLECTION_ELEMENTS, fast::LoanableCollection, elements_);
OFFSET(PAYLOAD_LENGTH, rtps::SerializedPayload_t, length);
OFFSET(LOCATOR_KIND, rtps::Locator_t, kind);
OFFSET(LOCATOR_PORT, rtps::Locator_t, port);
OFFSET(SERIALIZED_DATA_MESSAGE, rmw_fastrtps_shared_cpp::SerializedData, data);

// Within what is read in one go.
OFFSET(guid_entity, rtps::GUID_t, entityId);
OFFSET(identity_guid, rtps::SampleIdentity, writer_guid_);
OFFSET(identity_sequence, rtps::SampleIdentity, sequence_number_);
OFFSET(sequence_high, rtps::SequenceNumber_t, high);
OFFSET(sequence_low, rtps::SequenceNumber_t, low);
OFFSET(time_seconds, rtps::Time_t, seconds_);
OFFSET(time_nanoseconds, rtps::Time_t, nanosec_);
NUMBER(guid_bytes, sizeof(rtps::GUID_t));
NUMBER(kind_shm, (LOCATOR_KIND_SHM));

// How arguments are passed: in a register, in one.
NUMBER(code_bytes, sizeof(Code));
NUMBER(code_in_register, std::is_trivially_copyable<Code>::value);
NUMBER(duration_bytes, sizeof(Duration));
NUMBER(duration_in_register, std::is_trivially_copyable<Duration>::value);
NUMBER(mask_bytes, sizeof(fast::SampleStateMask));

#ifndef FASTDDS_2
OFFSET(buffer_data, rtps::NetworkBuffer, buffer);
OFFSET(buffer_size, rtps::NetworkBuffer, size);
NUMBER(buffer_bytes, sizeof(rtps::NetworkBuffer));
#endif

// The real functions return what the hooks return.
using fast::DataWriter;
#ifdef FASTDDS_2
using Plain = bool (DataWriter::*)(void*);
using Params = bool (DataWriter::*)(void*, rtps::WriteParams&);
using Instance = Code (DataWriter::*)(void*, const rtps::InstanceHandle_t&);
#else
using Plain = Code (DataWriter::*)(const void*);
using Params = Code (DataWriter::*)(const void*, rtps::WriteParams&);
using Instance = Code (DataWriter::*)(const void*, const rtps::InstanceHandle_t&);
#endif
NUMBER(write_value, (sizeof(static_cast<Plain>(&DataWriter::write)) != 0));
NUMBER(write_with_params, (sizeof(static_cast<Params>(&DataWriter::write)) != 0));
NUMBER(write_instance, (sizeof(static_cast<Instance>(&DataWriter::write)) != 0));
